"""What the server answers from: one catalog, the charts that it was given, and kept answers."""

from __future__ import annotations

from aicr.library import Catalog, Recipe, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.recipe.criteria import Criteria
    from aicr.server.limits import Limits


class Answer:
    """A finished answer. ``warnings`` are what a command line would print beside it."""

    __slots__ = ("body", "headers", "media", "status", "warnings")

    def __init__(
        self,
        body: bytes,
        media: str,
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        warnings: list[str] | None = None,
    ) -> None:
        self.body = body
        self.media = media
        self.status = status
        self.headers = headers or {}
        self.warnings = warnings or []


class Kept:
    """Answers kept as bytes, within bounds; the oldest go first."""

    def __init__(self, *, answers: int, size: int) -> None:
        self._answers: dict[tuple[object, ...], Answer] = {}
        self._most = answers
        self._largest = size
        self._size = 0

    def get(self, key: tuple[object, ...]) -> Answer | None:
        return self._answers.get(key)

    def put(self, key: tuple[object, ...], answer: Answer) -> None:
        """Called from the event loop alone."""
        old = self._answers.pop(key, None)
        if old is not None:
            self._size -= len(old.body)
        self._answers[key] = answer
        self._size += len(answer.body)
        while len(self._answers) > self._most or self._size > self._largest:
            first = next(iter(self._answers))
            self._size -= len(self._answers.pop(first).body)

    def __len__(self) -> int:
        return len(self._answers)


class Service:
    """The catalog and what is derived from it. Safe to share between threads."""

    def __init__(self, catalog: Catalog, limits: Limits, *, charts_dir: str = "") -> None:
        self.catalog = catalog
        self.limits = limits
        self.charts_dir = charts_dir
        self._resolvable: list[tuple[Criteria, int]] | None = None

    def warm(self) -> None:
        """Read now what requests would read first."""
        layers = self.catalog.layers
        assert layers.registry
        assert layers.releases is not None
        assert layers.digest
        assert self.catalog.records

    @property
    def resolvable(self) -> list[tuple[Criteria, int]]:
        """The criteria that resolve, each with the number of its components; found once."""
        if self._resolvable is None:
            from aicr.recipe.listing import resolvable

            self._resolvable = resolvable(self.catalog.layers)
        return self._resolvable

    def recipe(self, criteria: Criteria) -> Recipe:
        return resolved(self.catalog, criteria)
