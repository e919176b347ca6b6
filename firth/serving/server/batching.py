"""Dynamic batching: rows of several requests that are computed together, by near length."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth.serving.server.errors import RequestError

Arrays = Mapping[str, npt.NDArray[Any]]
Run = Callable[[str, Arrays], dict[str, npt.NDArray[Any]]]
# Rows whose lengths differ by more than this factor are not padded to each other.
_NEAR = 2.0


class _Asked:
    """A request whose rows are computed in one batch or in several."""

    def __init__(self, signature: str, inputs: Arrays, rows: int) -> None:
        self.signature, self.inputs, self.rows = signature, inputs, rows
        self.future: Future[dict[str, npt.NDArray[Any]]] = Future()
        self.found: list[dict[str, npt.NDArray[Any]] | None] = [None] * rows
        self.missing = rows
        self.is_failed = False
        self.key = (
            signature,
            *((name, each.dtype.str[:2], each.shape[1:]) for name, each in sorted(inputs.items())),
        )


class _Row(NamedTuple):
    asked: _Asked
    number: int
    length: int


class DynamicBatcher:
    """Computes signatures whose rows do not depend on each other, rows of several requests at a time.

    No batch waits for more rows: what has come while the threads were busy is computed together.

    Args:
        run: Function from the name of a signature and its inputs to its outputs; several threads call it.
        max_rows: Most rows of a batch.
        max_queued: Most rows that wait.
        threads: Batches that are computed at the same time.
        on_batch: Function that is called with the number of rows of each batch.
    """

    def __init__(
        self,
        run: Run,
        max_rows: int,
        max_queued: int,
        threads: int,
        on_batch: Callable[[int], None] = lambda rows: None,
    ) -> None:
        self._run, self._max_rows, self._max_queued, self._on_batch = run, max_rows, max_queued, on_batch
        self._waiting: deque[_Row] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for each in self._threads:
            each.start()

    @property
    def queued(self) -> int:
        """Number of rows that wait."""
        return len(self._waiting)

    def submit(self, signature: str, inputs: Arrays) -> Future[dict[str, npt.NDArray[Any]]]:
        """Returns the outputs of a signature, once they are computed.

        Args:
            signature: Name of the signature.
            inputs: Inputs by name, whose first axis is the rows.

        Raises:
            RequestError: 429 if the queue is full, 503 if the batcher is closed.
        """
        rows = len(next(iter(inputs.values())))
        asked = _Asked(signature, inputs, rows)
        if not rows:
            # The shapes of no rows are the model's own to say.
            asked.future.set_result(self._run(signature, inputs))
            return asked.future
        lengths = _lengths(inputs, rows)
        with self._changed:
            if self._is_closed:
                raise RequestError("the model is being unloaded", 503)
            # A request that is larger than the queue is computed when nothing else waits.
            if self._waiting and len(self._waiting) + rows > self._max_queued:
                raise RequestError(f"{len(self._waiting)} rows wait already; ask again later", 429)
            self._waiting.extend(_Row(asked, number, length) for number, length in enumerate(lengths))
            self._changed.notify_all()
        return asked.future

    def close(self) -> None:
        """Computes what waits, and ends the threads."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for each in self._threads:
            each.join()

    def _work(self) -> None:
        while batch := self._next():
            self._compute(batch)

    def _next(self) -> list[_Row]:
        """Returns the rows of the next batch: the oldest one, and those of near length; none at the end."""
        with self._changed:
            while not self._waiting:
                if self._is_closed:
                    return []
                self._changed.wait()
            first = self._waiting[0]
            near = [
                row
                for row in self._waiting
                if row.asked.key == first.asked.key
                and first.length <= _NEAR * row.length
                and row.length <= _NEAR * first.length
            ]
            # A client that is gone needs no answer, and a request of which rows have failed no other one.
            taken = [row for row in near if not row.asked.future.done()][: self._max_rows]
            gone = {id(row) for row in taken}
            self._waiting = deque(
                row for row in self._waiting if id(row) not in gone and not row.asked.future.done()
            )
        return taken or self._next()

    def _compute(self, rows: Sequence[_Row]) -> None:
        try:
            found = self._outputs(rows)
            parts = [{name: values[place] for name, values in found.items()} for place, _ in enumerate(rows)]
        except Exception as error:
            requests = list({id(row.asked): row.asked for row in rows}.values())
            if len(requests) == 1:
                self._fail(requests[0], error)
                return
            # A request that is wrong fails alone.
            for asked in requests:
                self._compute([row for row in rows if row.asked is asked])
            return
        for row, part in zip(rows, parts):
            self._deliver(row, part)

    def _outputs(self, rows: Sequence[_Row]) -> dict[str, npt.NDArray[Any]]:
        self._on_batch(len(rows))
        names = rows[0].asked.inputs
        inputs = {name: np.stack([row.asked.inputs[name][row.number] for row in rows]) for name in names}
        return self._run(rows[0].asked.signature, inputs)

    def _deliver(self, row: _Row, outputs: dict[str, npt.NDArray[Any]]) -> None:
        asked = row.asked
        with self._changed:
            asked.found[row.number] = outputs
            asked.missing -= 1
            if asked.missing:
                return
        try:
            joined = _joined([each for each in asked.found if each is not None])
        except Exception as error:
            # The request is answered, and the thread lives on for others.
            self._fail(asked, error)
            return
        if asked.future.set_running_or_notify_cancel():
            asked.future.set_result(joined)

    def _fail(self, asked: _Asked, error: Exception) -> None:
        # Other rows of the same request may have failed before, or fail now in another thread.
        with self._changed:
            if asked.is_failed or asked.future.done():
                return
            asked.is_failed = True
        if asked.future.set_running_or_notify_cancel():
            asked.future.set_exception(error)


def _lengths(inputs: Arrays, rows: int) -> list[int]:
    """Returns the length of each row: the bytes of its texts, or the numbers in it."""
    lengths = np.zeros(rows, np.int64)
    for values in inputs.values():
        flat = values.reshape(rows, -1)
        if values.dtype.kind in "OSU":
            lengths += [sum(map(len, row)) for row in flat]
        else:
            lengths += flat.shape[1]
    return np.maximum(lengths, 1).tolist()


def _joined(rows: Sequence[Mapping[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    """Returns the outputs of rows as arrays, padded to the longest as the model pads them."""
    return {name: _stacked([np.asarray(row[name]) for row in rows]) for name in rows[0]}


def _stacked(values: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    shapes = {each.shape for each in values}
    if len(shapes) == 1:
        return np.stack(values)
    most = np.max([each.shape for each in values], axis=0)
    padding = b"" if values[0].dtype.kind in "OSU" else 0
    stacked = np.full((len(values), *most), padding, values[0].dtype)
    for row, each in zip(stacked, values):
        row[tuple(map(slice, each.shape))] = each
    return stacked
