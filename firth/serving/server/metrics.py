"""Prometheus metrics of a server, in a registry of its own."""

from collections.abc import Callable, Iterator
from typing import Any

import prometheus_client
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
# Yields the name and version of each model, with its numbers of waiting rows, waiting texts and active slots.
Queues = Callable[[], Iterator[tuple[str, int, dict[str, int]]]]


class Metrics:
    """Counts of a server.

    Attributes:
        registry: Registry of the counts.
    """

    def __init__(self) -> None:
        self.registry = prometheus_client.CollectorRegistry()
        self._requests = self._counter("requests", "Requests by their route and status.", "route", "status")
        self._seconds = self._histogram("request_seconds", "Seconds of requests.", _SECONDS, "route")
        self._rows = self._histogram("batch_rows", "Rows of batches.", _ROWS, "model")
        self._first = self._histogram(
            "first_token_seconds", "Seconds from a request to its first token.", _SECONDS, "model"
        )
        self._next = self._histogram(
            "between_tokens_seconds", "Seconds from a token to the next.", _SECONDS, "model"
        )

    def request(self, route: str, status: int | str, seconds: float) -> None:
        """Counts a request that was answered."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, model: str, rows: int) -> None:
        """Counts a batch."""
        self._rows.labels(model).observe(rows)

    def token(self, model: str, seconds: float, is_first: bool) -> None:
        """Counts a token, by the seconds since the one before it or since the request."""
        (self._first if is_first else self._next).labels(model).observe(seconds)

    def watch(self, queues: Queues) -> None:
        """Reads the lengths of queues whenever the metrics are asked for."""
        self.registry.register(_QueueCollector(queues))

    def text(self) -> bytes:
        """Returns the metrics in Prometheus' text format."""
        return prometheus_client.generate_latest(self.registry)

    def _counter(self, name: str, meaning: str, *labels: str) -> Any:
        return prometheus_client.Counter(f"firth_{name}", meaning, labels, registry=self.registry)

    def _histogram(self, name: str, meaning: str, buckets: tuple[float, ...], *labels: str) -> Any:
        return prometheus_client.Histogram(
            f"firth_{name}", meaning, labels, buckets=buckets, registry=self.registry
        )


class _QueueCollector(Collector):
    def __init__(self, queues: Queues) -> None:
        self._queues = queues

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields the gauges."""
        meanings = {
            "queued_rows": "Rows that wait to be computed.",
            "queued_texts": "Texts that wait for a slot.",
            "active_slots": "Slots in which a text is written.",
        }
        found = list(self._queues())
        for name, meaning in meanings.items():
            gauge = GaugeMetricFamily(f"firth_{name}", meaning, labels=["model", "version"])
            for model, version, values in found:
                if name in values:
                    gauge.add_metric([model, str(version)], values[name])
            yield gauge
