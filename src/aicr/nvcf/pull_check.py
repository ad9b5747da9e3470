"""Whether every node that runs tasks can pull the images: what a run found, as one answer."""

from __future__ import annotations

import json

from aicr.errors import AicrError, invalid
from aicr.nvcf import clock
from aicr.nvcf.outcome import CANNOT_VERIFY, Fact, Outcome, Table
from aicr.nvcf.pull_reading import GO_OUTCOMES, Expected
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from aicr.artifact.image_ref import ImageRef
    from aicr.nvcf.evidence import Record
    from aicr.nvcf.inventory import Comparison
    from aicr.nvcf.kube import Opened
    from aicr.nvcf.mirror_check import MirrorAnswer
    from aicr.nvcf.pull_probe import Answered
    from aicr.nvcf.pull_run import PullRun

COMMAND = "pull-check"
RESULT = "result.json"
Key = tuple[str, str, str, str]
# Which of several outcomes is the command's.
ORDER = (
    "not-pulled", "digest-differs", "wrong-architecture", "secret-missing", "invalid-reference",
    "refused", "mutated", "unknown", "pulled-not-startable", "pulled",
)  # fmt: skip
_CORRECT = (
    "correct the cluster's set-up, as its row says (which object, which field), and repeat with "
    "--only-failed"
)
_MIRROR = "mirror the image again, then aicr nvcf mirror-check, then repeat with --only-failed"
NEXT = {
    "pulled": "none for the images; go on with aicr nvcf agents",
    "pulled-not-startable": "none: that the container did not start does not invalidate the pull",
    "not-pulled": "fix that cause (credential, mirror, network) and repeat with --only-failed",
    "digest-differs": _MIRROR,
    "wrong-architecture": _MIRROR,
    "secret-missing": _CORRECT,
    "invalid-reference": "correct the image reference (render, mirror settings) and repeat",
    "refused": _CORRECT,
    "mutated": _CORRECT,
    "unknown": "fix the node, or name in the fleet file why it may be left out; then repeat with "
    "--only-failed",
}
PROVES = (
    "a pull proves neither that the stack's packages are available nor that a task can run: both "
    "are checks of their own"
)
_PINNING = "Do not pin the UID of a cluster that you did not mean."
_DO_NOT = ("Do not take a pull for a proof of package availability or of task execution.",)


def expected_images(
    images: Sequence[ImageRef],
    comparisons: Sequence[Comparison],
    answers: Sequence[MirrorAnswer],
) -> dict[str, Expected]:
    """What a node may show for each image, by its reference."""
    selected = {one.image.text: set(one.digests) for one in comparisons}
    found: dict[str, Expected] = {}
    read = {one.image.text: one.found for one in answers}
    for image in images:
        digests = set(selected.get(image.text, ())) | ({image.digest} - {""})
        there = read.get(image.text)
        # A registry that has something else than what was selected vouches for nothing.
        if there is not None and (not digests or there.digests & digests):
            digests |= there.digests
        found[image.text] = Expected(digests, None if there is None else there.architectures)
    return found


def identity_outcome(opened: Opened, *, pinned: bool = True) -> Outcome | None:
    """The answer where a cluster is not the one of its entry, or nobody said which it is."""
    if opened.wrong:
        return Outcome(
            command=COMMAND,
            answer=CANNOT_VERIFY,
            because="wrong-cluster",
            go=False,
            next_action="correct the kubeconfig, the context or the entry of the fleet file",
            do_not=[_PINNING],
            notes=[*opened.wrong, "nothing else was read, and nothing was created"],
            next_command="aicr nvcf status",
            facts=[Fact("identity", said, "kube-system UID") for said in opened.wrong],
        )
    if pinned and opened.unpinned:
        rows = [[name, uid] for name, uid in opened.unpinned.items()]
        return Outcome(
            command=COMMAND,
            answer=CANNOT_VERIFY,
            because="unpinned",
            go=False,
            next_action="see that these are the clusters that are meant, and pin them",
            do_not=[_PINNING],
            tables=[Table("Found behind entries without a clusterUid", ["cluster", "UID"], rows)],
            next_command="aicr nvcf status --pin",
            facts=[
                Fact("clusterUid", {"cluster": name, "uid": uid}, "kube-system UID")
                for name, uid in opened.unpinned.items()
            ],
            notes=["nothing was created"],
        )
    return None


def pull_outcome(
    run: PullRun,
    opened: Opened,
    *,
    again: str,
    done: Collection[Key] = (),
    sample: bool = False,
    notes: Sequence[str] = (),
) -> Outcome:
    """The answer to all that was asked, and to what could not be asked."""
    said = _outcomes(run, opened)
    if not said and done:
        said = ["pulled"]
    answer = min(said, key=ORDER.index, default="unknown")
    bad = [one for one in dict.fromkeys(sorted(said, key=ORDER.index)) if one not in GO_OUTCOMES]
    times = [kube.now() for kube in opened.found.values()]
    listed = list(notes)
    if sample:
        listed.append("--sample: one Ready node of each pool and architecture was asked, not all")
    if done:
        listed.append(f"{len(done)} questions were answered well by an earlier run, and not asked")
    return Outcome(
        command=COMMAND,
        answer=answer,
        go=not bad and bool(said),
        because=_because(run, answer),
        as_of=clock.shown(min(times)) if times else "",
        clock=_clock(opened),
        next_action=NEXT[answer],
        do=[f"{one}: {NEXT[one]}" for one in bad] or [NEXT[answer]],
        do_not=_DO_NOT,
        next_command=f"{again} --only-failed {run.id}" if bad else "aicr nvcf agents",
        tables=_tables(run, opened),
        notes=[*listed, *_run_notes(run), PROVES],
        facts=_facts(run, opened),
        extra={
            "run": run.id,
            "sample": sample,
            "left": [
                {
                    "cluster": one.cluster,
                    "namespace": one.namespace,
                    "name": one.name,
                    "kept": one.kept,
                }
                for one in run.left
            ],
        },
    )


def _outcomes(run: PullRun, opened: Opened) -> list[str]:
    """An outcome for everything that was to be asked, answered or not."""
    said = [answered.reading.outcome for answered in run.answers]
    said += ["unknown"] * (len(run.units) - len(run.answers))
    said += ["unknown" for gap in run.gaps if gap.outcome == "unknown"]
    return said + ["unknown" for _ in opened.failed]


def _run_notes(run: PullRun) -> list[str]:
    found = [
        f"{one.unit.node}, {one.unit.image.text}: {note}"
        for one in run.answers
        for note in one.reading.notes
    ]
    found += run.problems
    return found + [
        f"{'kept' if left.kept else 'still there'}: pod {left.namespace}/{left.name} on "
        f"{left.cluster}; remove it with {to_copy('pull-check', '--clean-up', '--run', run.id)}"
        for left in run.left
    ]


def _tables(run: PullRun, opened: Opened) -> list[Table]:
    open_rows = [
        [gap.cluster, gap.pool, gap.node, gap.architecture, gap.outcome, gap.why]
        for gap in run.gaps
    ]
    open_rows += [
        [name, "", "", "", "unknown", error.message] for name, error in opened.failed.items()
    ]
    head = ["cluster", "pool", "node", "arch"]
    return [
        Table("", [*head, "image", "outcome", "why"], _rows(run)),
        Table("Not asked", [*head, "outcome", "why"], open_rows),
    ]


def _facts(run: PullRun, opened: Opened) -> list[Fact]:
    found = [Fact("unit", _unit(one), _source(opened, one)) for one in run.answers]
    found += [Fact("not-asked", _gap(gap), "nodes of the cluster") for gap in run.gaps]
    return found + [
        Fact("unreachable", {"cluster": name, "why": error.message}, "connection")
        for name, error in opened.failed.items()
    ]


def write_result(record: Record, run: PullRun, outcome: Outcome, done: Collection[Key]) -> None:
    """What ``--only-failed`` starts from."""
    good = [list(a.unit.key) for a in run.answers if a.reading.outcome in GO_OUTCOMES]
    said = {
        "run": run.id,
        "outcome": outcome.answer,
        "exit": outcome.exit,
        "asOf": outcome.as_of or None,
        "good": [*good, *(list(key) for key in done)],
        "units": [_unit(one) for one in run.answers],
        "notAsked": [_gap(gap) for gap in run.gaps],
    }
    data = json.dumps(said, indent=1, ensure_ascii=False).encode() + b"\n"
    record.write(f"{run.id}/{RESULT}", data, source="aicr", command=COMMAND)


def read_done(record: Record, run: str) -> set[Key]:
    """The questions that a run answered well. Raises INVALID_REQUEST."""
    file = f"{run}/{RESULT}"
    try:
        said = json.loads(record.read(file))
        return {(str(a), str(b), str(c), str(d)) for a, b, c, d in said["good"]}
    except AicrError as error:
        raise invalid(f"--only-failed {run}: {error.message}") from None
    except (ValueError, KeyError, TypeError):
        raise invalid(f"--only-failed {run}: {record.path}/{file} is no result of a run") from None


class Pulled:
    """What a run in the record found: ``good`` pairs of cluster and image, ``empty`` clusters where
    a declared empty pool was all there is."""

    __slots__ = ("_empty", "_good", "exit", "shown", "written")

    def __init__(
        self,
        *,
        exit: int,
        good: Collection[tuple[str, str]],
        empty: Collection[str],
        shown: str,
        written: str,
    ) -> None:
        self.exit = exit
        self.shown = shown
        self.written = written
        self._good = good
        self._empty = empty

    def covers(self, cluster: str, image: str) -> bool:
        return (cluster, image) in self._good or cluster in self._empty


def newest_result(record: Record) -> Pulled | None:
    """The last run of the record; None where there is none. Raises INVALID_REQUEST for a file that
    is no result, or that changed since it was written."""
    files = [one for one in record.entries if one.file.endswith(f"/{RESULT}")]
    if not files:
        return None
    newest = files[-1]
    try:
        said = json.loads(record.read(newest.file))
        good = {(str(cluster), str(image)) for cluster, _, _, image in said["good"]}
        declared = {one["cluster"] for one in said["notAsked"] if one["outcome"] == "not-checked"}
        return Pulled(
            exit=int(said["exit"]),
            good=good,
            empty=declared - {cluster for cluster, _ in good},
            shown=f"{said['outcome']}, run {said['run']}, {said['asOf'] or newest.time}",
            written=newest.time,
        )
    except (ValueError, KeyError, TypeError):
        raise invalid(f"{record.path}/{newest.file} is no result of a run") from None


def _because(run: PullRun, answer: str) -> str:
    causes = sorted(
        {a.reading.cause for a in run.answers if a.reading.outcome == answer and a.reading.cause}
    )
    return ", ".join(causes)


def _rows(run: PullRun) -> list[list[str]]:
    answers = sorted(run.answers, key=lambda one: one.unit.key)
    return [
        [
            one.unit.cluster.name,
            one.unit.pool.name,
            one.unit.node,
            one.unit.architecture,
            one.unit.image.text,
            one.reading.outcome + (f" ({one.reading.cause})" if one.reading.cause else ""),
            one.reading.why or one.reading.image_id,
        ]
        for one in answers
    ]


def _unit(one: Answered) -> dict[str, object]:
    return {
        "cluster": one.unit.cluster.name,
        "pool": one.unit.pool.name,
        "node": one.unit.node,
        "architecture": one.unit.architecture,
        "image": one.unit.image.text,
        "outcome": one.reading.outcome,
        "cause": one.reading.cause or None,
        "why": one.reading.why or None,
        "imageID": one.reading.image_id or None,
        "notes": list(one.reading.notes),
        "next": NEXT[one.reading.outcome],
        "pod": one.pod or None,
        "evidence": one.evidence or None,
    }


def _gap(gap: object) -> dict[str, object]:
    names = ("cluster", "pool", "node", "architecture", "outcome", "why")
    return {name: getattr(gap, name) or None for name in names}


def _source(opened: Opened, one: Answered) -> str:
    kube = opened.found.get(one.unit.cluster.name)
    return kube.source if kube else one.unit.cluster.name


def _clock(opened: Opened) -> Mapping[str, object]:
    seconds, which = opened.skew
    return {"skewSeconds": round(seconds, 1), "between": which} if which else {}
