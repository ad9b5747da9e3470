"""PyYAML imported late and lean is still PyYAML, and nobody else's patterns are touched."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import re, sys
before = re.compile
import aicr.documents.libyaml as lean
assert re.compile is before
import yaml
pattern = yaml.reader.Reader.NON_PRINTABLE
assert type(pattern) is lean.LatePattern
assert pattern.search("a\\x01b").group() == "\\x01"
text = "a: 1.50\\nb: 2024-01-02\\nc: 2024-01-02T03:04:05Z\\nd: 0x1f\\ne: no\\nf: ~\\ng: [x, '1']\\n"
for loader in (yaml.SafeLoader, yaml.CSafeLoader):
    found = yaml.load(text, loader)
    assert found["a"] == 1.5 and found["d"] == 31 and found["e"] is False and found["f"] is None
    assert found["b"].isoformat() == "2024-01-02" and found["c"].hour == 3
    assert found["g"] == ["x", "1"]
assert yaml.load(yaml.safe_dump(found), yaml.SafeLoader) == found
try:
    yaml.load("a: \\x01", yaml.SafeLoader)
except yaml.reader.ReaderError:
    print("whole")
"""

_OTHERS = """
import re, sys, types
own = types.ModuleType("own")
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "yaml.error":
            exec("import re; pattern = re.compile('x+')", own.__dict__)
sys.meta_path.insert(0, Finder())
import aicr.documents.libyaml
assert type(own.pattern) is re.Pattern, type(own.pattern)
print("whole")
"""


def _run(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_yaml_works_as_ever() -> None:
    assert _run(_PROGRAM) == "whole\n"


def test_patterns_of_others_are_compiled_at_once() -> None:
    assert _run(_OTHERS) == "whole\n"
