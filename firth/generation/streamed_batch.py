"""Texts that are read while a graph writes them.

A graph that returned to Python after each token would copy all keys and values that attention keeps, since it
may not change its inputs. Here one call writes all tokens in a thread of its own, and hands the texts over
after each of them.
"""

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf


class StreamedBatch:
    """The texts of a batch, which the thread of a graph writes and another one reads.

    The graph does not wait for the reader: a graph that waits would hold a thread of TensorFlow's.

    Args:
        rows: Number of texts.
    """

    def __init__(self, rows: int) -> None:
        self._written: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._ended = np.zeros([rows], np.bool_)

    def take(self, *written: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Takes the texts so far, and returns the rows that the reader has ended, bool [rows].

        Args:
            written: Arrays of `DecodedTexts`, in the order of `tf.nest.flatten`.
        """
        # TensorFlow may change its memory after the call.
        self._written.put([np.array(each) for each in written])
        return self._ended.copy()

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
                self._written.put(None)
            except BaseException as error:  # The reader raises it.
                self._written.put(error)

        thread = threading.Thread(target=work, name="firth-stream")
        thread.start()
        try:
            while (found := self._written.get()) is not None:
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            self._ended[:] = True
            # An iterator that nobody closed may be collected by the thread itself.
            if thread is not threading.current_thread():
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
        return batches[int(number)].take(*written)

    ended = tf.numpy_function(called, [number, *tf.nest.flatten(decoding.texts(state))], tf.bool)
    return decoding.with_ended(state, tf.ensure_shape(ended, state.ended.shape))
