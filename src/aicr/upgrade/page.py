"""One self-contained HTML page: its frame, its look, and text that cannot become markup.

No page loads anything: style and script are inside, and the policy in its head allows nothing
else. Everything works without the script; that only filters.
"""

from __future__ import annotations

from aicr.documents.safe import cell, prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.upgrade.model import Step
    from aicr.upgrade.rows import Row

STYLE = """\
:root { color-scheme: light dark; --ink: #1d2127; --quiet: #5b6470; --paper: #ffffff;
  --panel: #f5f6f8; --line: #d5d9df; --link: #0b57a4;
  --safe: #1a6e36; --manual: #7f5300; --blocked: #a81e26; --unknown: #6a3ea1; --none: #5b6470;
  --safe-b: #e3f4e7; --manual-b: #fdf0d5; --blocked-b: #fce4e4; --unknown-b: #efe6fa;
  --none-b: #eceef1; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --quiet: #a2abb7; --paper: #15181c;
  --panel: #1e2228; --line: #3a414b; --link: #8cc0ff;
  --safe: #8fdca6; --manual: #f3c76b; --blocked: #ff9d9d; --unknown: #cdb2f5; --none: #a2abb7;
  --safe-b: #17321f; --manual-b: #3a2c0c; --blocked-b: #451c1e; --unknown-b: #2f2244;
  --none-b: #262b32; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 78rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .5rem 0; max-width: 75ch; }
code, pre, .v { font-family: ui-monospace, monospace; font-size: .9em; }
code { background: var(--panel); border-radius: .2rem; padding: 0 .2rem; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .3rem;
  padding: .6rem .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
dl.about { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem;
  margin: .5rem 0; }
dl.about dt { color: var(--quiet); } dl.about dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .3rem; margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem;
  border-bottom: 1px solid var(--line); }
thead th { background: var(--panel); font-weight: 600; }
tbody tr:last-child > * { border-bottom: 0; }
.badge { display: inline-block; padding: 0 .5rem; border-radius: .8rem; font-size: .85em;
  font-weight: 600; white-space: nowrap; color: var(--none); background: var(--none-b);
  border: 1px solid currentcolor; }
.safe { color: var(--safe); background: var(--safe-b); }
.manual { color: var(--manual); background: var(--manual-b); }
.blocked { color: var(--blocked); background: var(--blocked-b); }
.unknown, .unversioned { color: var(--unknown); background: var(--unknown-b); }
details { border: 1px solid var(--line); border-radius: .3rem; margin: .4rem 0; }
details > summary { cursor: pointer; padding: .4rem .7rem; }
details > summary:focus-visible, a:focus-visible, input:focus-visible, select:focus-visible,
  button:focus-visible { outline: 3px solid var(--link); outline-offset: 1px; }
details[open] > summary { border-bottom: 1px solid var(--line); background: var(--panel); }
details > div { padding: .3rem .8rem .8rem; }
.quiet { color: var(--quiet); } .sum { font-weight: 600; } a { color: var(--link); }
.note { border-left: .3rem solid var(--manual); background: var(--manual-b); padding: .4rem .8rem;
  margin: .6rem 0; }
ul.check { list-style: none; padding: 0; } ul.check li { margin: .5rem 0; }
ul.check label { display: flex; gap: .6rem; align-items: baseline; }
ul.check input { flex: none; width: 1rem; height: 1rem; }
.filter { display: flex; flex-wrap: wrap; gap: 1rem; margin: .8rem 0; }
.filter input, .filter select { font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--quiet); border-radius: .3rem; padding: .2rem .5rem; }
@media print { :root { color-scheme: light; --ink: #000; --quiet: #444; --paper: #fff;
  --panel: #fff; --line: #999; --safe: #063; --manual: #640; --blocked: #800; --unknown: #408;
  --safe-b: #fff; --manual-b: #fff; --blocked-b: #fff; --unknown-b: #fff; --none-b: #fff; }
  body { padding: 0; max-width: none; font-size: 10pt; } .filter { display: none; }
  .scroll { overflow: visible; border: 0; } li, p, pre, summary { break-inside: avoid; }
  h2, h3, summary { break-after: avoid; } }
"""


def page(
    title: str, body: Iterable[str], *, style: str = "", script: str = "", connect: str = ""
) -> str:
    """The whole document; ``body`` is markup, ``style`` and ``script`` are the page's own, and
    ``connect`` is what the script may talk to."""
    styles = STYLE + style
    policy = policy_of(style, script, connect)
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        f"<title>{text(title)}</title>\n<style>{styles}</style>\n</head>\n<body>\n",
        *body,
        f"<script>{script}</script>\n" if script else "",
        "</body>\n</html>\n",
    ]
    return "".join(parts)


def policy_of(style: str = "", script: str = "", connect: str = "") -> str:
    """The Content-Security-Policy of a page: its own style and script, and nothing else."""
    policy = f"default-src 'none'; style-src '{_hash(STYLE + style)}'"
    policy += "; base-uri 'none'; form-action 'none'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
    return policy + (f"; connect-src {connect}" if connect else "")


def _hash(content: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return f"sha256-{b64encode(sha256(content.encode('utf-8')).digest()).decode('ascii')}"


def text(value: str) -> str:
    """Text on one line that is nothing but text, also inside a quoted attribute."""
    return _escaped(cell(value))


def _escaped(value: str) -> str:
    return (
        value.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )


def _with_code(escaped: str) -> str:
    """Escaped text; a backtick that no other one answers stays what it is."""
    parts = escaped.split("`")
    last = parts.pop() if len(parts) % 2 == 0 else None
    for at in range(1, len(parts), 2):
        parts[at] = f"<code>{parts[at]}</code>" if parts[at] else "``"
    return "".join(parts) + ("" if last is None else f"`{last}")


def paragraphs(value: str) -> str:
    """The author's paragraphs, what stands in backticks as code; a run of indented lines, which
    may be commands, as they are."""
    parts: list[str] = []
    lines: list[str] = []
    code: list[str] = []

    def close() -> None:
        if lines:
            parts.append(f"<p>{_with_code(' '.join(lines))}</p>\n")
        if code:
            parts.append("<pre>" + "\n".join(code) + "</pre>\n")
        lines.clear()
        code.clear()

    for line in prose(value).split("\n"):
        if line[:1] == " ":
            if lines:
                close()
            code.append(_escaped(line))
            continue
        if code or not line:
            close()
        if line:
            lines.append(_escaped(line))
    close()
    return "".join(parts)


def about(items: Iterable[tuple[str, str]]) -> str:
    """What a page is about, as names and values; empty values are left out."""
    rows = [f"<dt>{text(name)}</dt><dd>{text(value)}</dd>\n" for name, value in items if value]
    return f'<dl class="about">\n{"".join(rows)}</dl>\n'


def badge(word: str, count: int = 0) -> str:
    """A verdict, or a change that has none, told by its word and its colour; ``count`` of them."""
    known = word if word in ("safe", "manual", "blocked", "unknown", "unversioned") else "none"
    many = f"{count} " if count else ""
    return f'<span class="badge {known}">{many}{text(word)}</span>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are markup already."""
    titles = "".join(f'<th scope="col">{text(name)}</th>' for name in head)
    lines = [f"<tr>{''.join(f'<td>{one}</td>' for one in row)}</tr>\n" for row in rows]
    return (
        f'<div class="scroll"><table>\n<thead><tr>{titles}</tr></thead>\n'
        f"<tbody>\n{''.join(lines)}</tbody>\n</table></div>\n"
    )


def links(references: Iterable[str]) -> str:
    """References; only what is plainly an address of the web becomes a link."""
    items = []
    for reference in references:
        shown = text(reference)
        if reference.startswith(("https://", "http://")):
            shown = f'<a href="{shown}" rel="noreferrer noopener">{shown}</a>'
        items.append(f"<li>{shown}</li>\n")
    return f"<ul>\n{''.join(items)}</ul>\n" if items else ""


def steps(found: Sequence[Step], deployer: str, *, title: str = "Steps") -> str:
    """Steps in their order."""
    if not found:
        return ""
    by = f" (deployer: {text(deployer)})" if deployer else ""
    parts = [f"<h3>{text(title)}{by}</h3>\n<ol>\n"]
    for step in found:
        parts.append(f"<li><strong>{text(step.id)}</strong>\n{paragraphs(step.description)}")
        if step.reason:
            parts.append(f'<div class="quiet">{paragraphs("Why: " + step.reason)}</div>')
        parts.append("</li>\n")
    return "".join([*parts, "</ol>\n"])


def move_text(row: Row) -> str:
    """From and to of a row."""
    if row.change == "identity":
        return f'<span class="v">{text(row.after or "-")}</span>, moved'
    return (
        f'<span class="v">{text(row.before or "-")}</span> &rarr; '
        f'<span class="v">{text(row.after or "-")}</span>'
    )


def row_details(row: Row, deployer: str) -> str:
    """All that is known of one row, as the check reports it."""
    from aicr.upgrade.table import change_text, hop_text

    parts = [paragraphs(row.summary), paragraphs(row.explanation)]
    if row.identity_changes:
        moved = "".join(f"<li>{text(change_text(c))}</li>\n" for c in row.identity_changes)
        parts.append(f"<h3>Moved</h3>\n<ul>\n{moved}</ul>\n")
    for title, hops in (("Path", row.ways.path), ("Recorded way", row.ways.to_furthest)):
        if hops:
            stops = "".join(f"<li>{text(hop_text(hop))}</li>\n" for hop in hops)
            parts.append(f"<h3>{title}</h3>\n<ol>\n{stops}</ol>\n")
    if row.precondition:
        parts.append(f"<h3>Precondition</h3>\n{paragraphs(row.precondition)}")
    parts.append(steps(row.steps, deployer))
    if row.reversible is not None:
        said = "yes" if row.reversible else "no"
        if row.reversible_notes:
            said += f": {row.reversible_notes}"
        parts.append(f"<h3>Reversible</h3>\n{paragraphs(said)}")
    if row.references:
        parts.append(f"<h3>References</h3>\n{links(row.references)}")
    return "".join(parts)
