"""``aicr completion``: scripts that shells accept, and that complete what there is."""

from __future__ import annotations

import subprocess

import pytest

from aicr.cli.main import VERBS
from command import run_aicr
from tools import tool


def script(shell: str) -> str:
    done = run_aicr("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_its_script(shell: str) -> None:
    done = subprocess.run(
        [tool(shell), "-n"], input=script(shell), capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")


def completed(*words: str) -> list[str]:
    """What bash offers for the last of ``words``."""
    program = script("bash") + (
        'COMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n_aicr\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", program, "bash", "aicr", *words], capture_output=True, encoding="utf-8"
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_verbs_flags_and_choices() -> None:
    assert set(completed("")) == {verb.split()[0] for verb in VERBS} | {"--help", "--version"}
    assert "recipe" in completed("re")
    assert set(completed("completion", "")) >= {"bash", "zsh", "fish"}
    assert "list" in completed("recipe", "l")
    assert completed("recipe", "--serv") == ["--service"]
    assert completed("recipe", "list", "--cat") == ["--catalog"]
    assert set(completed("recipe", "--format", "")) >= {"yaml", "json", "table"}
    assert completed("recipe", "--service", "eks", "--accel") == ["--accelerator"]


def test_every_verb_and_flag_is_in_every_script() -> None:
    for shell in ("bash", "zsh", "fish"):
        text = script(shell)
        for verb in VERBS:
            assert verb.split()[-1] in text
        for flag in ("service", "catalog", "allow-unknown-fields", "output"):
            assert flag in text


def test_each_verb_has_its_own_choices() -> None:
    assert set(completed("upgrade-plan", "--format", "")) == {
        "table", "json", "yaml", "markdown", "html",
    }  # fmt: skip
    assert "csv" in completed("fleet", "check", "--format", "")
    assert set(completed("recipe", "--format", "")) == {"yaml", "json", "table"}
