"""The memory of a process that runs hundreds of files of tests one after another."""

import ctypes
import gc
import os
import pathlib
import sys

# Growth that is worth looking for what can be freed, which takes a second: after a file, and between its
# tests, whose fixtures still hold most of it. Returning what the heap keeps takes a hundredth of that time.
GROWTH_BYTES, GROWTH_IN_A_FILE_BYTES, HEAP_BYTES = 2**29, 2**30, 2**27


class WorkerMemory:
    """Memory that is given back when the process has grown."""

    def __init__(self):
        self._held = self._returned = 0

    def give_back(self, after_file: bool) -> None:
        """Frees graphs that hold each other, and what the heap keeps, where the process has grown since.

        Args:
            after_file: Whether the last test of a file has ended.
        """
        if sys.platform != "linux":
            return
        if resident_bytes() > self._returned + HEAP_BYTES:
            self._returned = return_heap()
        if self._returned > self._held + (GROWTH_BYTES if after_file else GROWTH_IN_A_FILE_BYTES):
            gc.collect()
            self._held = self._returned = return_heap()


def return_heap() -> int:
    """Hands free pages of the heap to the system, and returns the memory that this process then takes."""
    ctypes.CDLL(None).malloc_trim(0)
    return resident_bytes()


def forget_custom_gradients() -> None:
    """Removes the gradients of `tf.custom_gradient` from TensorFlow's registry.

    It keeps one of each call in a graph to the end of the process, and with it the graph.
    """
    if ops := sys.modules.get("tensorflow.python.framework.ops"):
        registered = ops.gradient_registry._registry
        for name in [name for name in registered if name.startswith("CustomGradient-")]:
            del registered[name]


def resident_bytes() -> int:
    """Returns the memory that this process takes."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
