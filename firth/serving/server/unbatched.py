"""Requests that are computed alone, not in batches with others, in a bounded queue."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from firth.serving.server.errors import RequestError

Result = TypeVar("Result")
# TensorFlow computes a request in several threads as well.
_THREADS = 16


class UnbatchedRequests(Generic[Result]):
    """Computes requests one by one, in threads of its own.

    Args:
        max_queued: Most requests that wait.
        threads: Requests that are computed at the same time.
    """

    def __init__(self, max_queued: int, threads: int = _THREADS) -> None:
        self._threads, self._max_queued = threads, max_queued
        self._pool = ThreadPoolExecutor(threads, "unbatched")
        self._changing = threading.Lock()
        self._taken = 0
        self._is_closed = False

    @property
    def queued(self) -> int:
        """Number of requests that wait."""
        return max(self._taken - self._threads, 0)

    def submit(self, compute: Callable[[], Result]) -> Future[Result]:
        """Returns the result of a request, once it is computed.

        Args:
            compute: Function that computes it.

        Raises:
            RequestError: 429 if too many wait, 503 if the model is being unloaded.
        """
        with self._changing:
            if self._is_closed:
                raise RequestError("the model is being unloaded", 503)
            if self._taken >= self._threads + self._max_queued:
                raise RequestError(f"{self.queued} requests wait already; ask again later", 429)
            self._taken += 1
            # A future of the pool that is cancelled stays in its queue, so that clients have another one.
            future: Future[Result] = Future()
            self._pool.submit(self._compute, future, compute)
        return future

    def _compute(self, future: Future[Result], compute: Callable[[], Result]) -> None:
        if not future.set_running_or_notify_cancel():
            self._free_place()
            return
        try:
            result = compute()
        except BaseException as error:
            self._free_place()
            future.set_exception(error)
            # The future, its exception and this frame would be a cycle.
            del future
        else:
            self._free_place()
            future.set_result(result)

    def _free_place(self) -> None:
        with self._changing:
            self._taken -= 1

    def close(self) -> None:
        """Computes what waits, and ends the threads."""
        with self._changing:
            self._is_closed = True
        self._pool.shutdown()
