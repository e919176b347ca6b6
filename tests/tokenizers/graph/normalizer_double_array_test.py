import hypothesis
import numpy as np
from hypothesis import strategies as st

from firth.tokenizers.graph.normalizer import build_double_array

POINTS = st.integers(1, 0x10FFFF).filter(lambda point: not 0xD800 <= point < 0xE000)
BROKEN = 2**30


def look_up(units, key):
    """Returns the value of a key as the kernel does; 0 for a key without a value."""
    position = 0
    for byte in key:
        position ^= (int(units[position]) >> 10) ^ byte
        if int(units[position]) & 0x800000FF != byte:
            return 0
    unit = int(units[position])
    return int(units[position ^ (unit >> 10)]) & ~(1 << 31) if unit & 0x100 else 0


@hypothesis.settings(max_examples=8, deadline=None, derandomize=True)
@hypothesis.given(
    mapping=st.dictionaries(POINTS | st.integers(0x20, 0x250), st.integers(1, 2**31 - 1), max_size=300),
    others=st.lists(POINTS, max_size=20),
)
def test_it_holds_what_was_put_in_and_nothing_else(mapping, others):
    values = np.zeros(0x110000, np.int64)
    values[list(mapping)] = list(mapping.values())
    units = build_double_array(values, BROKEN)
    assert len(units) % 256 == 0
    for point in [*mapping, *others, *(point + 1 for point in mapping if point + 1 < 0xD800)]:
        assert look_up(units, chr(point).encode()) == mapping.get(point, 0)


def test_truncated_and_stray_bytes_have_a_value_of_their_own():
    values = np.zeros(0x110000, np.int64)
    values[ord("中")] = 5
    units = build_double_array(values, BROKEN)
    for content in (
        b"\x80",
        b"\xff",
        b"\xe4",
        b"\xe4\xb8",
        b"\xe5\x80",
        b"\xf0\x9f\x98",
        b"\xf4\x8f",
        b"\xc3",
    ):
        assert look_up(units, content) == BROKEN
    assert look_up(units, "中".encode()) == 5
