"""Memory that TensorFlow's CPU allocator hands out during a training step, from the trace of its profiler."""

import ctypes
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from benchmarks.workers.traces import trace_of

# A function of TensorFlow that Python has no name for: from then on each allocation is an event of the trace.
_ENABLE = "_ZN3tsl23EnableCPUAllocatorStatsEv"
_ALLOCATION, _DEALLOCATION, _SECOND = "MemoryAllocation", "MemoryDeallocation", "second step"
# When, which of both, and its values by name.
Event = tuple[int, str, dict[str, Any]]


class Allocation(NamedTuple):
    """A tensor.

    Attributes:
        size: Bytes that were asked for.
        operation: Name of the operation that asked.
        shape: Shape as text.
    """

    size: int
    operation: str
    shape: str


class Peak(NamedTuple):
    """The moment of a step at which its tensors take most.

    Attributes:
        held: Bytes of tensors at that moment, without those that were there before the step.
        written: Bytes of all tensors that the step has made.
        tensors: Tensors that were there at that moment, of this step.
    """

    held: int
    written: int
    tensors: list[Allocation]


def can_trace() -> bool:
    """Returns whether this TensorFlow tells what its CPU allocator hands out."""
    return hasattr(_library(), _ENABLE)


def peak_of(run: Callable[[], Any]) -> Peak:
    """Returns the peak of a step, which has run before.

    It runs twice: weights that an update makes anew take the place of some that only the trace of the step
    before knows. The second time is looked at.

    Args:
        run: Function that makes a step and waits for its end.
    """
    getattr(_library(), _ENABLE)()
    return _walk(*_trace(run))


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(os.path.join(tf.sysconfig.get_lib(), "libtensorflow_framework.so.2"))


def _trace(run: Callable[[], Any]) -> tuple[list[Event], int]:
    """Returns the bytes allocated and freed in two steps, and the number of such events before the second."""

    def both() -> None:
        run()
        with tf.profiler.experimental.Trace(_SECOND):
            run()

    kinds = (_ALLOCATION, _DEALLOCATION, _SECOND)
    found = [
        (line.timestamp_ns * 1000 + event.offset_ps, names[event.metadata_id], _values(event, plane))
        for plane in trace_of(both).planes
        for names in [{key: value.name for key, value in plane.event_metadata.items()}]
        for line in plane.lines
        for event in line.events
        if names[event.metadata_id] in kinds
    ]
    found.sort(key=lambda event: event[0])
    (begin,) = [place for place, (_, name, _) in enumerate(found) if name == _SECOND]
    del found[begin]
    return found, begin


def _values(event: Any, plane: Any) -> dict[str, Any]:
    values = {}
    for stat in event.stats:
        value = getattr(stat, stat.WhichOneof("value"))
        if stat.WhichOneof("value") == "ref_value":
            value = plane.stat_metadata[value].name
        values[plane.stat_metadata[stat.metadata_id].name] = value
    return values


def _walk(events: list[Event], begin: int) -> Peak:
    live: dict[int, tuple[int, Allocation]] = {}
    held = before = most = written = 0
    tensors: list[Allocation] = []
    for place, (_, name, values) in enumerate(events):
        if place == begin:
            before = held
        if (freed := live.pop(values["addr"], None)) is not None:
            held -= freed[1].size
        if name == _DEALLOCATION:
            continue
        made = Allocation(values["requested_bytes"], values.get("tf_op", ""), values.get("shape", ""))
        live[values["addr"]] = place, made
        held += made.size
        written += made.size if place >= begin else 0
        if place >= begin and held - before > most:
            most = held - before
            tensors = [each for number, each in live.values() if number >= begin]
    return Peak(most, written, tensors)
