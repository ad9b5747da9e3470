"""A catalog folder with components, their pins and their records, said in few words."""

from __future__ import annotations

from pathlib import Path

HEAD = "apiVersion: aicr.run/v1beta1\n"
STEPS = "    stepsByDeployer: [{steps: [{id: apply, description: Apply.}]}]\n"


def record(
    origin: str = "<2.0.0", to: str = ">=2.0.0 <=2.5.0", verdict: str = "safe", extra: str = ""
) -> str:
    """One well-formed transition, as an item of the list."""
    tail = "    verifiedBy: lane-7\n" if verdict == "safe" else STEPS
    return (
        f'  - from: "{origin}"\n    to: "{to}"\n    verdict: {verdict}\n    summary: A boundary.\n'
        f"{tail}{extra}"
    )


def records_file(component: str, *transitions: str, lines: str = "", tail: str = "") -> str:
    """A whole record file."""
    body = f"transitions:\n{''.join(transitions)}" if transitions else ""
    return f"{HEAD}kind: ComponentUpgrades\ncomponent: {component}\n{lines}{body}{tail}"


def allowlist(*entries: tuple[str, str, str]) -> str:
    """The allowlist with entries of (component, versions, reason)."""
    items = "".join(
        f'  - {{component: {component}, versions: "{versions}", reason: "{reason}"}}\n'
        for component, versions, reason in entries
    )
    return f"{HEAD}kind: RecordAllowlist\nentries:\n{items}"


def releases(**pins: dict[str, str]) -> str:
    """A release history, oldest first."""
    lines = [f"{HEAD}kind: ReleaseHistory\nreleases:\n"]
    for release, pinned in pins.items():
        lines.append(f"  - name: {release}\n    pins:\n")
        lines += [f'      {name}: "{version}"\n' for name, version in pinned.items()]
    return "".join(lines)


def write_catalog(
    folder: Path,
    pins: dict[str, str],
    records: dict[str, str] | None = None,
    **files: str,
) -> Path:
    """A catalog of components with these pins and record files; ``files`` are further ones, by
    path with ``__`` for ``/`` and without its ending."""
    entries = []
    for name, pin in pins.items():
        entry = f"  - name: {name}\n"
        if name in (records or {}):
            entry += f"    upgrades: {{file: components/{name}/upgrades.yaml}}\n"
        entry += "    helm:\n      defaultRepository: https://charts.example\n"
        entry += f"      defaultChart: {name}\n"
        if pin:
            entry += f'      defaultVersion: "{pin}"\n'
        entries.append(entry)
    put(folder, "registry.yaml", f"{HEAD}kind: ComponentRegistry\ncomponents:\n{''.join(entries)}")
    for name, text in (records or {}).items():
        put(folder, f"components/{name}/upgrades.yaml", text)
    for path, text in files.items():
        put(folder, f"{path.replace('__', '/').replace('_', '-')}.yaml", text)
    return folder


def put(folder: Path, path: str, text: str) -> None:
    full = folder / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text, encoding="utf-8")
