"""Measures the rates of this machine's CPU."""

import os
import statistics
import time
from collections.abc import Callable

import tensorflow as tf

from firth.recipes.counting.accelerators import Accelerator

_ROUNDS = 7
# Products of a layer's size, and tensors that no cache holds.
_ROWS, _INNER, _COLUMNS = 4096, 512, 1024
_ELEMENTS = 2**25
_DTYPES = {"float32": tf.float32, "mixed_bfloat16": tf.bfloat16}


class StoppedClockError(RuntimeError):
    """No time passes by the machine's clock, so that nothing can be measured by it."""


def measure_cpu(clock: Callable[[], float] = time.perf_counter) -> Accelerator:
    """Returns the CPU that this process runs on, with the rates that TensorFlow reaches on it now.

    It takes some seconds. Medians of seven products of [4096, 512] and [512, 1024], and of seven sums of two
    tensors of 128 MiB.

    Raises:
        StoppedClockError: if the clock does not move.
    """
    rates = {precision: _product_rate(dtype, clock) for precision, dtype in _DTYPES.items()}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Accelerator("cpu", rates, _bandwidth(clock), memory)


def _product_rate(dtype: tf.DType, clock: Callable[[], float]) -> float:
    left, right = tf.ones([_ROWS, _INNER], dtype), tf.ones([_INNER, _COLUMNS], dtype)
    return 2 * _ROWS * _INNER * _COLUMNS / _median_seconds(lambda: tf.matmul(left, right), clock)


def _bandwidth(clock: Callable[[], float]) -> float:
    left, right = tf.ones([_ELEMENTS]), tf.ones([_ELEMENTS])
    # Two tensors are read, and one is written.
    return 3 * 4 * _ELEMENTS / _median_seconds(lambda: left + right, clock)


def _median_seconds(compute: Callable[[], tf.Tensor], clock: Callable[[], float]) -> float:
    taken = []
    for _ in range(_ROUNDS):
        started = clock()
        # It returns when the operation has ended.
        compute()
        taken.append(clock() - started)
    if (median := statistics.median(taken)) <= 0:
        raise StoppedClockError("the machine's clock does not move, so that its speed cannot be measured")
    return median
