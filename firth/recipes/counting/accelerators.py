"""Rates and memory of accelerators, as their makers publish them."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Accelerator:
    """A device that a training runs on.

    Attributes:
        name: Name, as `--accelerator` takes it.
        rates: Floating point operations a second of dense matrix products, by `training.precision`.
        bandwidth: Bytes of its memory that are read or written in a second.
        memory: Bytes of its memory.
    """

    name: str
    rates: Mapping[str, float]
    bandwidth: float
    memory: float


def _of(name: str, float32: float, bfloat16: float, bandwidth: float, memory: float) -> Accelerator:
    rates = {"float32": float32 * 1e12, "mixed_bfloat16": bfloat16 * 1e12}
    return Accelerator(name, rates, bandwidth * 1e9, memory * 1e9)


# TFLOP/s in float32 without TensorFloat-32, TFLOP/s in bfloat16 without sparsity, GB/s, GB: NVIDIA's data
# sheets of A100 80GB SXM, L4, H100 SXM and H200 SXM, and Google's of a chip of the TPUs. There XLA multiplies
# float32 in bfloat16, unless a program asks for another precision.
ACCELERATORS = {
    each.name: each
    for each in (
        _of("a100", 19.5, 312, 2_039, 80),
        _of("l4", 30.3, 121, 300, 24),
        _of("h100", 67, 989, 3_350, 80),
        _of("h200", 67, 989, 4_800, 141),
        _of("tpu_v5e", 197, 197, 819, 16),
        _of("tpu_v5p", 459, 459, 2_765, 95),
        _of("tpu_v6e", 918, 918, 1_638, 32),
    )
}
