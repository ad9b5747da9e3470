"""What YAML of others says, every scalar as text: charts repeat keys, and Helm lets them.

Only for looking into rendered charts and their values; nothing read here is written again.
"""

from __future__ import annotations

from aicr.errors import invalid

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 100


def read_loosely(data: bytes, where: str) -> list[object]:
    """The documents in ``data``, as maps, lists and text. Raises INVALID_REQUEST.

    Aliases are shared, not copied: whoever walks the result must not walk a node twice.
    """
    import yaml

    if len(data) > MAX_BYTES:
        raise invalid(f"{where}: {len(data)} bytes, more than the {MAX_BYTES} allowed")
    try:
        depth = 0
        for event in yaml.parse(data, Loader=yaml.CBaseLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    raise invalid(f"{where}: nested deeper than {MAX_DEPTH} levels")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        found = list(yaml.load_all(data, Loader=yaml.CBaseLoader))
    except (yaml.YAMLError, UnicodeError, TypeError) as error:
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise invalid(f"{where}: not YAML: {line}") from None
    return [document for document in found if document not in (None, "")]
