"""The ``records`` commands: what they print, where they write, how they exit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aicr.cli.main import main
from record_catalog import allowlist, put, record, records_file, releases, write_catalog

ALPHA = records_file("alpha", record("<2.0.0", ">=2.0.0 <=2.0.0", "manual"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    write_catalog(
        tmp_path / "c",
        {"alpha": "2.0.0", "beta": "1.0.0"},
        {"alpha": ALPHA},
        releases=releases(r1={"alpha": "1.0.0"}),
        records_allowlist=allowlist(("beta", "1.0.0", "new")),
    )
    return "c"


def test_lint_clean_and_not(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "lint", "--catalog", folder]) == 0
    assert capsys.readouterr().out == "records: no violation\n"
    put(Path(folder), "components/alpha/upgrades.yaml", ALPHA.replace("manual", "fine"))
    assert main(["records", "lint", "--catalog", folder]) == 2
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("c/components/alpha/upgrades.yaml:7: verdict: ")


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_lint_for_machines(folder: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(Path(folder), "records-allowlist.yaml", allowlist())
    words = ["records", "lint", "--catalog", folder, "--format", form]
    assert main(words) == 2
    out = capsys.readouterr().out
    if form == "github":
        assert out.startswith("::error file=c/registry.yaml,line=")
    elif form == "json":
        assert json.loads(out)["summary"] == {"violations": 1, "rules": {"coverage": 1}}
    else:
        assert json.loads(out)["runs"][0]["results"][0]["ruleId"] == "coverage"
    assert main([*words, "-o", "report"]) == 2
    assert Path("report").read_text() == out


@pytest.mark.parametrize(
    "words",
    [["--catalog", "nowhere"], ["--data", "nowhere"], ["--form", "x"], ["--format", "xml"],
     ["--catalog", "c", "--base", "HEAD"], ["--catalog", "c", "-o", "no/such/folder/x"]],
)  # fmt: skip
def test_lint_that_cannot_run_exits_1(
    folder: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", os.path.dirname(os.getcwd()))
    assert main(["records", "lint", *words]) == 1


def test_lint_of_a_catalog_that_does_not_load(folder: str) -> None:
    put(Path(folder), "registry.yaml", "kind: [")
    assert main(["records", "lint", "--catalog", folder]) == 1


def test_lint_names_shipped_files_as_seen_from_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from aicr.catalog.open import SHIPPED_DATA

    monkeypatch.chdir(os.path.dirname(SHIPPED_DATA))
    mine = write_catalog(tmp_path, {"kueue": "0.19.3"})
    main(["records", "lint", "--data", str(mine)])
    assert "data/components/kueue/upgrades.yaml: file: " in capsys.readouterr().out


def test_coverage(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["records", "coverage", "--catalog", folder]
    assert main(words) == 0
    assert "1 of 1 moves" in capsys.readouterr().out
    assert main([*words, "--format", "json", "--all-pairs"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["manual"] == 1
    assert main([*words, "--format", "markdown", "-o", "coverage.md"]) == 0
    assert "| alpha | 1.0.0 | 2.0.0 |" in Path("coverage.md").read_text()
    put(Path(folder), "components/alpha/upgrades.yaml", "[")
    assert main(words) == 2


def test_show(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["records", "show", "alpha", "--catalog", folder]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "from <2.0.0  to >=2.0.0 <=2.0.0  (manual)  c/components/alpha/upgrades.yaml:5" in out
    assert "STEPS (deployer: helm, helmfile, argocd, argocd-helm, flux)" in out
    assert main([*words, "--from", "1.0.0", "--to", "2.0.0", "--deployer", "flux"]) == 0
    assert capsys.readouterr().out.startswith("alpha 1.0.0 -> 2.0.0  (manual, recorded)\n")
    assert main([*words, "--from", "1.0.0", "--to", "2.1.0", "--format", "json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["answer"]["verdict"] == "blocked"
    assert values["transitions"][0]["from"] == "<2.0.0"


def test_show_what_is_not_there(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "show", "beta", "--catalog", folder]) == 0
    assert "beta has no record: every move of it is unknown." in capsys.readouterr().out
    assert main(["records", "show", "beta", "--catalog", folder, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["transitions"] == []
    assert main(["records", "show", "alhpa", "--catalog", folder]) == 3
    assert "did you mean alpha?" in capsys.readouterr().err
    assert main(["records", "show", "alpha", "--catalog", folder, "--from", "1.0.0"]) == 2


def test_show_hides_nothing_and_forges_nothing(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = records_file(
        "alpha",
        record("<2.0.0", ">=2.0.0 <=2.0.0", extra=(
            '    precondition: "a\\e[31mb"\n    reversible: true\n    reversibleNotes: Apply.\n'
            "    affectedResources: [{group: g.io, kinds: [Widget]}]\n"
            "    references: ['https://example.com/a']\n"
        )),
        lines='lines:\n- {name: a, versions: ">=5.0.0 <6.0.0"}\n- {name: b, versions: "<3.0.0"}\n'
        .replace('"<3.0.0"', '">=0.1.0 <3.0.0"'),
        tail="replaces: {component: beta, verdict: safe, verifiedBy: me, summary: It arrives.}\n",
    )  # fmt: skip
    put(Path(folder), "components/alpha/upgrades.yaml", text)
    assert main(["records", "show", "alpha", "--catalog", folder]) == 0
    out = capsys.readouterr().out
    for word in ("Lines, oldest first: a", "VERIFIED BY", "lane-7", "PRECONDITION", "a\\x1b[31mb",
                 "AFFECTED", "Widget (g.io)", "yes: Apply.", "https://example.com/a",
                 "alpha replaces beta  (safe)", "It arrives."):  # fmt: skip
        assert word in out
    assert main(["records", "show", "alpha", "--catalog", folder, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"][0] == {
        "name": "a",
        "versions": ">=5.0.0 <6.0.0",
    }


def test_new(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--catalog", folder, "--from", "1.0.0", "--to", "1.1.0"]
    assert main(["records", "new", "beta", *words]) == 0
    done = capsys.readouterr()
    assert done.out.startswith("apiVersion: aicr.run/v1beta1\nkind: ComponentUpgrades\n")
    assert "upgrades: {file: components/beta/upgrades.yaml}" in done.err
    path = f"{folder}/components/alpha/upgrades.yaml"
    words[3:] = ["2.0.0", "--to", "3.0.0"]
    assert main(["records", "new", "alpha", *words, "-o", path]) == 0
    assert Path(path).read_text().startswith(ALPHA)
    assert main(["records", "lint", "--catalog", folder]) == 2
    assert main(["records", "show", "alpha", "--catalog", folder]) == 2


def test_new_that_goes_nowhere(folder: str) -> None:
    words = ["records", "new", "alpha", "--catalog", folder, "--from", "2.0.0", "--to"]
    assert main([*words, "1.0.0"]) == 2
    assert main([*words, "main"]) == 2
    words[2] = "nobody"
    assert main([*words, "3.0.0"]) == 3


def test_the_pre_commit_hook_names_a_command_that_runs() -> None:
    import yaml

    root = Path(__file__).parents[2]
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    program, *words = hook["entry"].split()
    assert program == "aicr"
    assert hook["language"] == "python"
    done = subprocess.run(
        [sys.executable, "-m", "aicr", *words, *hook.get("args", [])],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_new_writes_the_file_that_the_registry_names_already(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either order works: the file first, or its name in the registry."""
    path = Path(folder, "components/alpha/upgrades.yaml")
    path.unlink()
    words = ["records", "new", "alpha", "--catalog", folder, "--from", "1.0.0", "--to", "2.0.0"]
    assert main([*words, "-o", str(path)]) == 0
    assert capsys.readouterr().err == ""
    assert "component: alpha" in path.read_text()
    assert main(["records", "show", "alpha", "--catalog", folder]) in (0, 2)
    assert "is not in the catalog" not in capsys.readouterr().err
