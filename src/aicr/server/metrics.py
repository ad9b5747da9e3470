"""What the server counts, for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.core import Metric

_BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
MEDIA = "text/plain; version=0.0.4; charset=utf-8"


class _Answers(Collector):
    """Answers by method, route and status; a plain list each, since every request counts here."""

    def __init__(self) -> None:
        # How many, in how many seconds, and how many below each bound.
        self.found: dict[tuple[str, str, int], tuple[list[float], list[int]]] = {}

    def collect(self) -> Iterator[Metric]:
        counted = CounterMetricFamily(
            "aicr_http_requests", "Requests answered.", labels=("method", "route", "status")
        )
        took = HistogramMetricFamily(
            "aicr_http_request_seconds",
            "Seconds from a request's head to the end of its answer.",
            labels=("route",),
        )
        routes: dict[str, tuple[float, list[int]]] = {}
        for (method, route, status), (sums, below) in sorted(self.found.items()):
            counted.add_metric((method, route, str(status)), sum(below))
            seconds, all_below = routes.get(route, (0.0, [0] * len(below)))
            routes[route] = (
                seconds + sums[0],
                [a + b for a, b in zip(all_below, below, strict=True)],
            )
        names = [*map(str, _BOUNDS), "+Inf"]
        for route, (seconds, below) in routes.items():
            buckets = list(zip(names, accumulate(below), strict=True))
            took.add_metric((route,), buckets, seconds)
        yield counted
        yield took


class Metrics:
    """Counters of one server, in a registry of its own."""

    def __init__(self, version: str, digest: str) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._answers = _Answers()
        registry.register(self._answers)
        self._shed = Counter(
            "aicr_http_requests_shed", "Requests refused for want of room.", registry=registry
        )
        build = Gauge(
            "aicr_build_info", "The version and the catalog.", ("version", "catalog"),
            registry=registry,
        )  # fmt: skip
        build.labels(version, digest).set(1)

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A gauge that is read when somebody asks."""
        Gauge(name, about, registry=self._registry).set_function(value)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        found = self._answers.found.get(key)
        if found is None:
            found = self._answers.found[key] = [0.0], [0] * (len(_BOUNDS) + 1)
        found[0][0] += seconds
        found[1][bisect_left(_BOUNDS, seconds)] += 1

    def shed(self) -> None:
        self._shed.inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)
