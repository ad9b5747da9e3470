"""``aicr fleet check`` from end to end: inputs, the answer in each format, what costs one line."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from aicr.cli.main import main
from aicr.cli.side_by_side import side_by_side
from aicr.errors import INTERNAL, TIMEOUT

EXAMPLES = Path(__file__).parents[2] / "examples"
THREE_HOPS = EXAMPLES / "three-hops"
CATALOG = ["--catalog", str(THREE_HOPS / "catalog")]
RECIPE = (THREE_HOPS / "old-recipe.yaml").read_text()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, *, alpha: str = "1.0.0", text: str = RECIPE) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text.replace("version: 1.0.0\n", f"version: {alpha}\n", 1))
    return path


def fleet(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    main(["fleet", "check", *CATALOG, "--deployer", "helm", "--format", "json", *arguments])
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def names(found: dict[str, object]) -> list[str]:
    clusters = found["clusters"]
    assert isinstance(clusters, list)
    return [one["name"] for one in clusters]


def test_each_report_is_that_of_the_cluster_alone(capsys: pytest.CaptureFixture[str]) -> None:
    main(["fleet", "check", "--clusters", str(EXAMPLES / "fleet.yaml"), "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert len(found["clusters"]) == 12
    for cluster in found["clusters"]:
        main(["upgrade-check", "--from", cluster["from"], "--deployer", cluster["deployer"],
              "--format", "json"])  # fmt: skip
        assert json.dumps(cluster["report"]) == json.dumps(json.loads(capsys.readouterr().out))
    moves = found["moves"]
    assert sum(len(move["clusters"]) for move in moves) == sum(
        len(cluster["report"]["components"]) for cluster in found["clusters"]
    )


def test_what_the_inputs_stand_for(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    write("all/one.yaml")
    write("all/two.yaml", alpha="2.4.0")
    write("all/bundle/recipe.yaml", alpha="3.1.0")
    write("all/.hidden.yaml")
    write("all/README.md")
    assert set(names(fleet(capsys, "all"))) == {"all/one.yaml", "all/two.yaml", "all/bundle"}
    assert names(fleet(capsys, "all/bundle")) == ["all/bundle"]
    assert set(names(fleet(capsys, "all/*.yaml"))) == {"all/one.yaml", "all/two.yaml"}
    Path("list.yaml").write_text(
        "clusters:\n"
        "  - {name: west, from: all/one.yaml, deployer: flux, labels: {region: us}}\n"
        "  - {from: all/two.yaml}\n"
    )
    found = fleet(capsys, "--clusters", "list.yaml", "all/bundle")
    assert set(names(found)) == {"west", "all/two.yaml", "all/bundle"}
    west = next(c for c in found["clusters"] if c["name"] == "west")  # type: ignore[attr-defined]
    assert (west["deployer"], west["labels"]) == ("flux", {"region": "us"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no clusters"),
        (["nothing-*.yaml"], "matches nothing"),
        (["empty"], "without recipes"),
        (["--clusters", "twice.yaml"], "one name: x"),
        (["--clusters", "odd.yaml"], "frm"),
        (["one.yaml", "--to", "missing.yaml"], "there is no such file"),
        (["one.yaml", "--deployer", "hlm"], "hlm"),
    ],
)
def test_a_bad_invocation(
    capsys: pytest.CaptureFixture[str], here: Path, arguments: list[str], said: str
) -> None:
    write("one.yaml")
    write("two.yaml", alpha="2.4.0")
    Path("empty").mkdir()
    Path("twice.yaml").write_text(
        "clusters: [{name: x, from: one.yaml}, {name: x, from: two.yaml}]"
    )
    Path("odd.yaml").write_text("clusters: [{name: x, frm: one.yaml}]")
    assert main(["fleet", "check", *CATALOG, *arguments]) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert said in done.err
    assert main(["fleet", "check", "--detailed-exit-code", *CATALOG, *arguments]) == 1


def test_the_same_input_twice_counts_once(capsys: pytest.CaptureFixture[str]) -> None:
    write("one.yaml")
    os.symlink("one.yaml", "link.yaml")
    assert main(["fleet", "check", *CATALOG, "--deployer", "helm", "one.yaml", "link.yaml",
                 "./one.yaml"]) == 2  # fmt: skip
    done = capsys.readouterr()
    assert "1 cluster: 1 needs attention" in done.out
    assert done.err.count("counts once") == 2


def test_what_cannot_be_read_is_a_line(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    write("good.yaml")
    Path("torn.yaml").write_text("kind: RecipeResult\ncomponentRefs: [")
    Path("binary.yaml").write_bytes(b"\0\1\2")
    Path("huge.yaml").write_bytes(b"a: b\n" * 3_000_000)
    Path("deep.yaml").write_text("[" * 5000)
    Path("bomb.yaml").write_text(
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{c}: &{c} [{', '.join([f'*{p}'] * 10)}]\n" for p, c in zip("abcdef", "bcdefg"))  # noqa: B905
    )
    os.mkfifo("pipe.yaml")
    write("criteria.yaml", text=RECIPE.replace("service: eks", "service: nowhere"))
    write("none.yaml", text=RECIPE.replace("criteria:\n  service: eks\n  intent: training\n", ""))
    bad = ["torn.yaml", "binary.yaml", "huge.yaml", "deep.yaml", "bomb.yaml", "pipe.yaml",
           "criteria.yaml", "none.yaml", "missing.yaml"]  # fmt: skip
    found = fleet(capsys, "good.yaml", *bad)
    assert names(found)[0] == "good.yaml"
    assert set(names(found)[1:]) == set(bad)
    assert found["summary"] == {"clusters": 10, "failing": 1, "unreadable": 9}
    assert all("error" in c for c in found["clusters"] if c["name"] in bad)  # type: ignore[attr-defined]
    run = ["fleet", "check", *CATALOG, "--deployer", "helm"]
    assert main([*run, "good.yaml", "torn.yaml"]) == 2
    assert "COULD NOT BE READ\n  torn.yaml: " in capsys.readouterr().out
    assert main([*run, "good.yaml", "torn.yaml", "--detailed-exit-code"]) == 1
    assert main([*run, "good.yaml", "--detailed-exit-code"]) == 2
    assert main([*run, "torn.yaml", "missing.yaml"]) == 2
    assert main([*run, "good.yaml", "torn.yaml", "--fail-on-error=false"]) == 0


def test_another_cluster_than_the_target_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    write("one.yaml")
    write("two.yaml", text=RECIPE.replace("service: eks", "service: gke"))
    write("new.yaml", alpha="2.4.0")
    found = fleet(capsys, "one.yaml", "two.yaml", "--to", "new.yaml")
    assert found["to"] == "new.yaml"
    assert found["summary"] == {"clusters": 2, "failing": 1, "unreadable": 1}
    assert fleet(capsys, "one.yaml", "new.yaml", "--to", "new.yaml")["summary"] == {
        "clusters": 2, "failing": 1, "unreadable": 0,
    }  # fmt: skip


def test_groups_and_only_failing(capsys: pytest.CaptureFixture[str]) -> None:
    write("one.yaml")
    write("new.yaml")
    Path("list.yaml").write_text(
        "clusters:\n  - {name: a, from: one.yaml, labels: {r: us}}\n"
        "  - {name: b, from: new.yaml, to: new.yaml, labels: {r: eu}}\n"
        "  - {name: c, from: new.yaml}\n"
    )
    found = fleet(capsys, "--clusters", "list.yaml", "--group-by", "r")
    groups = found["groups"]
    assert isinstance(groups, list)
    assert [(g["value"], g["clusters"]) for g in groups] == [
        ("(none)", ["c"]), ("eu", ["b"]), ("us", ["a"]),
    ]  # fmt: skip
    found = fleet(capsys, "--clusters", "list.yaml", "--only", "failing")
    assert set(names(found)) == {"a", "c"}
    assert found["summary"] == {"clusters": 3, "failing": 2, "unreadable": 0}


HOSTILE = [
    "=cmd|' /C calc'!A1", "+1", "-1+1", "@SUM(A1)", " =1", "<script>alert(1)</script>",
    "a\" onmouseover=\"x", "x|y", "[l](http://e)", "\x1b[31mred\x1b[0m", "a\nforged  row",
    "\u202eabc", "`code`", "]]>", "<!--",
]  # fmt: skip


def hostile_fleet() -> str:
    clusters = [
        {"name": name, "from": f"{i}.yaml", "labels": {"g": name}} for i, name in enumerate(HOSTILE)
    ]
    for i, name in enumerate(HOSTILE):
        recipe = yaml.safe_load(RECIPE)
        recipe["componentRefs"][0]["version"] = name
        recipe["componentRefs"].append({"name": name, "version": "1.0.0", "type": "Helm"})
        recipe.pop("deploymentOrder")
        Path(f"{i}.yaml").write_text(json.dumps(recipe))
    clusters.append({"name": "<b>torn</b>", "from": "<i>missing</i>.yaml", "labels": {}})
    Path("list.yaml").write_text(json.dumps({"clusters": clusters}))
    return "list.yaml"


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "html", "junit"])
def test_names_are_only_names(capsys: pytest.CaptureFixture[str], form: str) -> None:
    file = hostile_fleet()
    main(["fleet", "check", *CATALOG, "--deployer", "helm", "--clusters", file, "--format", form,
          "--group-by", "g"])  # fmt: skip
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert not any(line.startswith("forged") for line in out.splitlines())
    if form == "csv":
        rows = list(csv.reader(io.StringIO(out)))
        assert len({len(row) for row in rows}) == 1
        assert not any(c.lstrip()[:1] in tuple("=+-@") and c for row in rows for c in row)
    elif form == "html":
        assert out.count("<script") == 1
        assert "<b>torn" not in out
        assert 'onmouseover="' not in out
    elif form == "markdown":
        assert "<script" not in out.replace("\\<script", "")
        assert "[l](http" not in out
    elif form == "junit":
        root = ET.fromstring(out)
        assert len(root) == len(HOSTILE) + 1


def test_junit_counts(capsys: pytest.CaptureFixture[str]) -> None:
    write("one.yaml")
    main(["fleet", "check", *CATALOG, "--deployer", "helm", "one.yaml", "no.yaml",
          "--format", "junit"])  # fmt: skip
    root = ET.fromstring(capsys.readouterr().out)
    good, bad = root
    assert (good.get("tests"), good.get("failures")) == ("5", "2")
    assert len(good.findall("testcase/failure")) == 2
    assert bad.get("errors") == "1"
    main(["upgrade-check", *CATALOG, "--deployer", "helm", "--from", "one.yaml",
          "--format", "junit"])  # fmt: skip
    assert len(ET.fromstring(capsys.readouterr().out).findall(".//failure")) == 2


def test_the_page_loads_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    write("one.yaml")
    main(["fleet", "check", *CATALOG, "--deployer", "helm", "one.yaml", "--format", "html"])
    html = capsys.readouterr().out
    assert "default-src 'none'" in html
    for loading in ("src=", "@import", "url(", "http:"):
        assert loading not in html
    assert 'href="#move-0"' in html
    assert '<details id="move-0">' in html
    main(["upgrade-check", *CATALOG, "--deployer", "helm", "--from", "one.yaml",
          "--format", "html"])  # fmt: skip
    page = capsys.readouterr().out
    assert page.count("<details") >= 5
    assert page.count("<script") <= 1
    assert "default-src 'none'" in page
    for loading in ("src=", "@import", "url("):
        assert loading not in page


def test_one_that_hangs_is_given_up_and_hides_no_other() -> None:
    never = threading.Event()

    def read(item: str) -> str:
        if item == "hangs":
            never.wait(60)
        if item == "fails":
            raise ZeroDivisionError("x")
        return item.upper()

    items = ["a", "hangs", "fails", "b", "hangs", "c"]
    found = sorted(side_by_side(items, read, at_once=2, seconds=0.5), key=lambda one: one[0])
    never.set()
    assert [result for _, result, _ in found] == ["A", None, None, "B", None, "C"]
    codes = [error.code if error is not None else "" for _, _, error in found]
    assert codes == ["", TIMEOUT, INTERNAL, "", TIMEOUT, ""]


def test_what_could_not_be_read_is_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    write("r.yaml")
    Path("list.yaml").write_text(
        "clusters:\n"
        "  - {name: a, from: r.yaml, labels: {r: us}}\n"
        "  - {name: b, from: gone.yaml, labels: {r: us}}\n"
        "  - {name: c, from: lost.yaml, labels: {r: eu}}\n"
    )
    found = fleet(capsys, "--clusters", "list.yaml", "--group-by", "r")
    groups = found["groups"]
    assert isinstance(groups, list)
    assert [(g["value"], g["clusters"], g["unreadable"]) for g in groups] == [
        ("eu", ["c"], 1),
        ("us", ["a", "b"], 1),
    ]
    words = ["fleet", "check", *CATALOG, "--deployer", "helm", "--clusters", "list.yaml"]
    for form, said in (("table", "r=eu: 1 cluster, 0 failing, 1 could not be read"),
                       ("markdown", "## r: eu (1 cluster, 0 failing, 1 could not be read)"),
                       ("html", "r: eu (1 cluster, 0 failing, 1 could not be read)")):  # fmt: skip
        main([*words, "--group-by", "r", "--format", form])
        assert said in capsys.readouterr().out


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_time_that_is_none(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("r.yaml")
    assert main(["fleet", "check", "r.yaml", *CATALOG, "--timeout", seconds]) == 2
    assert "expected seconds" in capsys.readouterr().err
