import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.recipes.yaml_text import parse_value, read_yaml, write_yaml

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.from_regex(
    r"[-+.0-9e_:]{1,6}", fullmatch=True
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)


@given(value=VALUES)
@settings(deadline=None)
def test_what_is_written_is_read_back_equal(value):
    assert read_yaml(write_yaml(value), "a.yaml").data == value


@pytest.mark.parametrize("text, value", [
    ("1e-4", 1e-4), ("1E5", 1e5), ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("-2e+3", -2000.0),
    ("1_000", 1000), ("-7", -7), ("010", "010"), ("1:30", "1:30"), ("no", "no"), ("on", "on"),
    ("2024-01-01", "2024-01-01"), ("true", True), ("", None), ("~", None), ("e5", "e5"), ("_1", "_1"),
])  # fmt: skip
def test_plain_scalars(text, value):
    found = parse_value(text)
    assert found == value and type(found) is type(value)


def test_each_key_and_item_has_its_place():
    places = read_yaml("a:\n  - b: 1\n  - 2\n", "x.yaml").places
    assert places["a", "0", "b"] == "x.yaml:2:5"
    assert places["a", "1"] == "x.yaml:3:5"
