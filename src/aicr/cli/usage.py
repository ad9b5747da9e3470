"""The list of commands, all of them or those below one word, as ``--help`` prints it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What the commands below a word are for, and examples; "" is all commands.
GROUPS = {
    "": (
        "Upgrade safety for GPU clusters.",
        """\
  aicr recipe --service eks --accelerator h100 --intent training -o new-recipe.yaml
  aicr upgrade-check --from old-recipe.yaml --to new-recipe.yaml --deployer helm
  aicr bundle -r new-recipe.yaml --deployer helm -o ./bundles
""",
    ),
    "fleet": (
        "Many clusters at once.",
        """\
  aicr fleet check --clusters fleet.yaml --to new-recipe.yaml
""",
    ),
    "mirror": (
        "What a registry without access to the internet must hold.",
        """\
  aicr mirror list -r new-recipe.yaml --format yaml
""",
    ),
    "nvcf": (
        """\
Around an upgrade of self-managed NVIDIA Cloud Functions. These commands read; pull-check creates
and removes its own pods, and nothing else is changed anywhere.
Exit codes: 0 go; 2 anything else; 1 a bad invocation.""",
        """\
  aicr nvcf init
  aicr nvcf preflight --to 1.0.10
  aicr nvcf drain --wait
  aicr nvcf gate --guide-gate-passed CHG-1234
""",
    ),
    "records": (
        "What somebody found out about the move of a component from one version to another.",
        """\
  aicr records show gpu-operator --deployer helm
  aicr records lint --data ./my-catalog
""",
    ),
}


def usage(group: str, verbs: Mapping[str, tuple[str, str]]) -> str:
    """What ``aicr GROUP --help`` prints; ``verbs`` has each command's purpose behind its module."""
    command = f"aicr {group}".rstrip()
    purpose, examples = GROUPS[group]
    listed = {
        verb: text for verb, (_, text) in verbs.items() if verb.startswith(f"{group} ".lstrip())
    }
    width = max(map(len, listed)) + 2
    lines = [f"  {verb:<{width}}{text}" for verb, text in listed.items()]
    return (
        f"usage: {command} COMMAND [OPTIONS]\n\n{purpose}\n\n"
        "Commands:\n" + "\n".join(lines) + "\n\n"
        f"{command} COMMAND --help explains a command; aicr --version prints the version.\n"
        "Every command takes --debug, which shows where an error came from.\n\n"
        f"Examples:\n{examples}"
    )
