import pytest
from hypothesis import given, settings, strategies as st

from firth.recipes.base.errors import RecipeError
from firth.recipes.base.yaml_text import parse_value, read_yaml, write_yaml

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.from_regex(
    r"[-+.0-9e_:]{1,6}", fullmatch=True
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)


@given(value=VALUES)
@settings(max_examples=40, derandomize=True, deadline=None)
def test_what_is_written_is_read_back_equal(value):
    assert read_yaml(write_yaml(value), "a.yaml").data == value


def test_lines_are_broken_after_100_columns():
    assert [write_yaml({"a": f"{'b' * letters} c"}).count("\n") for letters in (97, 98)] == [1, 2]


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


TENFOLD = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
BOMB = f"a0: &a0 [x]\n{TENFOLD}"


@pytest.mark.parametrize("text, problem", [
    (BOMB, "f:1:10: more than 20,000 values, each alias written out"),
    (f"{BOMB}? *a8\n: 1\n", "f:1:10: more than 20,000 values"),
    ("? [a, b]\n: 1\n", "f:1:3: the key a collection is not text"),
    pytest.param(f"a: [{'1, ' * 21_000}]", "more than 20,000 values", marks=pytest.mark.repeated),
    ("[" * 1_500, "f:1:52: nested more than 50 deep"),
    ("a: " + "{a: " * 5_000, "nested more than 50 deep"),
    ("".join(f"{'  ' * depth}a:\n" for depth in range(500)), "f:51:101: nested more than 50 deep"),
    ("a: &x {b: *x}", "f:1:4: nested more than 50 deep, or an alias that contains itself"),
    (f"a: {'1' * 6_000}", "is neither text, number"),
    ("a: !!bool x", "f:1:4: a: 'x' is neither text"),
    ("a: !!timestamp x", "f:1:4: a: 'x' is neither text"),
    ("a: !!python/object:os.x {b: 1}", "f:1:4: a: the tag tag:yaml.org,2002:python/object:os.x is not known"),
])  # fmt: skip
def test_a_text_that_costs_too_much_or_cannot_be_read(text, problem):
    with pytest.raises(RecipeError) as refused:
        read_yaml(text, "f")
    assert problem in refused.value.problems[0] and len(str(refused.value)) < 20_000


def test_many_problems_are_told_in_part():
    with pytest.raises(RecipeError) as refused:
        read_yaml("a: 1\n" * 300, "f")
    assert len(refused.value.problems) == 50
