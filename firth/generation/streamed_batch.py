"""Texts that are read while a graph writes them.

A graph that returned to Python after each token would copy all keys and values that attention keeps, since it
may not change its inputs. Here one call writes all tokens in a thread of its own, and hands the texts over
after each of them.
"""

import collections
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

# Most steps that wait for a slow reader, each with all tokens of the texts so far.
_MOST_UNREAD = 16


class StreamedBatch:
    """The texts of a batch, which the thread of a graph writes and another one reads.

    The graph does not wait for the reader: a graph that waits would hold a thread of TensorFlow's.

    Args:
        rows: Number of texts.
    """

    def __init__(self, rows: int) -> None:
        self._unread: collections.deque[Any] = collections.deque()
        self._changed = threading.Condition()
        self._ended = np.zeros([rows], np.bool_)

    def take(self, *written: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Takes the texts so far, and returns the rows that the reader has ended, bool [rows].

        Args:
            written: Arrays of `DecodedTexts`, in the order of `tf.nest.flatten`.
        """
        # TensorFlow may change its memory after the call.
        self._hand([np.array(each) for each in written])
        return self._ended.copy()

    def _hand(self, found: Any) -> None:
        with self._changed:
            if len(self._unread) == _MOST_UNREAD and isinstance(found, list):
                # The newer texts hold the older ones.
                self._unread.pop()
            self._unread.append(found)
            self._changed.notify()

    def _next(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._unread)
            return self._unread.popleft()

    def end(self, rows: Sequence[bool]) -> None:
        """Ends texts.

        Args:
            rows: True for each text that ends.
        """
        self._ended[:] = rows

    def read(self, write: Callable[[], Any]) -> Iterator[list[npt.NDArray[Any]]]:
        """Yields the texts after each step of a graph, which ends with the iterator.

        Args:
            write: Function that calls the graph.
        """

        def work() -> None:
            try:
                write()
                self._hand(None)
            except BaseException as error:  # The reader raises it.
                self._hand(error)

        thread = threading.Thread(target=work, name="firth-stream")
        thread.start()
        reader = threading.current_thread()
        try:
            while (found := self._next()) is not None:
                if isinstance(found, BaseException):
                    raise found
                yield found
                reader = threading.current_thread()
        finally:
            self._ended[:] = True
            # An iterator that nobody closed may be collected by any thread, one that the graph waits for too.
            if threading.current_thread() is reader:
                thread.join()


def handed_over(decoding: Any, batches: Mapping[int, StreamedBatch], number: tf.Tensor, state: Any) -> Any:
    """Hands texts over to their reader inside a graph, and returns them without those that it has ended.

    Args:
        decoding: Decoder of the texts.
        batches: The batches that are being read, by their numbers.
        number: Number of the batch, int64 [].
        state: Texts so far.
    """

    def called(number: Any, *written: Any) -> Any:
        batch = batches.get(int(number))
        # Its reader is gone.
        return np.ones([len(written[0])], np.bool_) if batch is None else batch.take(*written)

    ended = tf.numpy_function(called, [number, *tf.nest.flatten(decoding.texts(state))], tf.bool)
    return decoding.with_ended(state, tf.ensure_shape(ended, state.ended.shape))
