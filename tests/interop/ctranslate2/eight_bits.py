"""Whether this machine multiplies in 8 bits exactly."""

import pathlib
import platform

import pytest

_CPU = pathlib.Path("/proc/cpuinfo")


def saturates() -> bool:
    """Whether sums of two products of 8 bits are cut to 16 bits: x86 has no exact ones without VNNI."""
    return platform.machine() == "x86_64" and _CPU.exists() and "vnni" not in _CPU.read_text()


exact_products = pytest.mark.skipif(
    saturates(), reason="without VNNI this CPU cuts sums of products of 8 bits, and CTranslate2 with it"
)
