"""What a bundle tells its reader: ``README.md``, and ``UPGRADING.md`` where records speak.

Prose of records stands in code blocks: it may hold commands to copy, and nothing in it is markup.
"""

from __future__ import annotations

import re

from aicr.documents.safe import cell, escaped, prose
from aicr.upgrade.wrap import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.bundle.dynamic import LeftOpen
    from aicr.bundle.guidance import Advice
    from aicr.bundle.namespaces import LeftOut
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease

_FENCES = r"(?m)^\s*(`{3,})"

_CONTENTS = """
## What is in it

`recipe.yaml` is what this bundle deploys; `aicr upgrade-check --from` takes it, or this
folder: keep it. `bundle-info.yaml` says how the bundle was made. `checksums.txt` has
every other file:

```bash
sha256sum --check --quiet checksums.txt
```
"""


_ASK = """\
A bundle does not know what runs in your cluster. In this folder, with the recipe or the
bundle that you deployed from, this says which of these apply:

```bash
aicr upgrade-check --from DEPLOYED --to .
```

"""

_ONE_GO = """
Deployed as below, everything is upgraded in one go. UPGRADING.md says how to take
one release at a time, with the steps in between.
"""


def readme(
    plan: DeploymentPlan,
    advice: Sequence[Advice],
    *,
    deployer: str,
    usage: str,
    left_open: Sequence[tuple[LeftOpen, str]] = (),
    left_out: Sequence[LeftOut] = (),
) -> bytes:
    """``README.md``: what is in the bundle, how it is deployed and checked.

    ``left_open`` is what is left to install time, each with where it is said then.
    """
    criteria = plan.recipe.criteria.stated()
    purpose = ", ".join(f"{key} {value}" for key, value in criteria.items())
    count = len(plan.releases)
    parts = [
        f"# Bundle for {deployer}\n\n",
        f"{count} release{'' if count == 1 else 's'}",
        f" for {purpose}.\n\n" if purpose else ".\n\n",
        _table(
            ["#", "release", "version", "namespace", "chart"],
            [[str(one.index), one.name, one.version or "-", one.namespace, _chart(one)]
             for one in plan.releases],
        ),
    ]  # fmt: skip
    if advice:
        parts += [
            "\n## Before you upgrade\n\n",
            _ASK,
            _advice_table(advice, " in [UPGRADING.md](UPGRADING.md)"),
            _ONE_GO,
        ]
    parts += _left_open(left_open) + _left_out(left_out)
    parts += [
        "\n## Deploy\n\n",
        usage,
        _CONTENTS,
    ]
    return "".join(parts).encode("utf-8")


def upgrading(advice: Sequence[Advice], deployer: str, stepwise: str = "") -> bytes:
    """``UPGRADING.md``: each record that speaks of a version in the bundle, with its steps.

    ``stepwise`` is the section on how to make room for them."""
    parts = [
        f"# Upgrading with {deployer}\n\n",
        "For clusters that run older versions; a first deployment needs none of this.\n",
        _ASK,
        _advice_table(advice),
        stepwise,
    ]
    for one in advice:
        record = one.record
        parts.append(
            f"\n## {one.component} {one.version} ({record.verdict})\n\n"
            f"Coming from `{cell(record.origin.text)}`, to `{cell(record.to.text)}`.\n\n"
        )
        parts.append(_block(record.summary))
        if record.precondition:
            parts += ["\n**Before anything else**\n\n", _block(record.precondition)]
        parts.append("\n**Steps**\n")
        for number, step in enumerate(one.steps, start=1):
            parts += [f"\n{number}. {escaped(step.id)}\n\n", _block(step.description)]
            if step.reason:
                parts += ["\nWhy:\n\n", _block(step.reason)]
        if record.reversible is not None:
            word = "Reversible" if record.reversible else "Not reversible"
            parts.append(f"\n**{word}**\n")
            if record.reversible_notes:
                parts += ["\n", _block(record.reversible_notes)]
        if record.references:
            parts.append("\n**References**\n\n")
            parts += [f"- {escaped(url)}\n" for url in record.references]
    return "".join(parts).encode("utf-8")


def _left_open(entries: Sequence[tuple[LeftOpen, str]]) -> list[str]:
    if not entries:
        return []
    rows = [
        [one.release.name, one.path, "the recipe's" if one.has_value else "none", place]
        for one, place in entries
    ]
    text = (
        "\n## Before you deploy: values of this cluster\n\n"
        "The bundle leaves these values to the cluster. Where one is `none`, the chart's own\n"
        "default holds until you say otherwise.\n\n"
    )
    return [text, _table(["release", "value", "until then", "where you say it"], rows)]


def _left_out(namespaces: Sequence[LeftOut]) -> list[str]:
    commands = [command for one in namespaces for command in one.commands]
    if not commands:
        return []
    text = (
        "\n## Namespaces\n\n"
        "The deployer makes these namespaces, without what the components say of them. Run this\n"
        "once; `kubectl create namespace NAME` first where one is not there yet.\n\n"
    )
    return [text, _fenced(prose("\n".join(commands)), "bash")]


def _advice_table(advice: Sequence[Advice], where: str = "") -> str:
    return _table(
        ["component", "version", "coming from", "verdict", "steps"],
        [[one.component, one.version, f"`{cell(one.record.origin.text)}`", one.record.verdict,
          f"{len(one.steps)}{where}"] for one in advice],
        escape=False,
    )  # fmt: skip


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, escape: bool = True) -> str:
    lines = [head, ["---"] * len(head)]
    lines += [[escaped(text) if escape else text for text in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _chart(release: PlannedRelease) -> str:
    if release.chart is None:
        return "generated"
    if release.chart.archive:
        return release.chart.archive
    return f"{release.chart.repository}/{release.chart.name}"


def _block(text: str) -> str:
    return _fenced("\n".join(wrapped(text, "")), "text")


def _fenced(shown: str, language: str) -> str:
    fence = "```"
    if fence in shown:
        longest = max((len(run) for run in re.findall(_FENCES, shown)), default=2)
        fence = "`" * (longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}\n"
