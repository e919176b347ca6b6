import dataclasses

import pytest

from firth.scores import (
    Collected,
    compute,
    compute_difference,
    compute_interval,
    compute_slices,
    sliced,
)

EXAMPLES = [
    Collected("c", "no", "yes", source="web", length=3),
    Collected("a", "yes", "yes", source="web", length=16),
    Collected("b", "no", "no", source="books", length=17),
    Collected("d", "yes", "yes"),
]


def test_a_score_with_what_is_needed_to_compare_it():
    found = compute("f1", EXAMPLES, positive="yes")
    assert (found.name, found.value, found.examples) == ("f1", pytest.approx(0.8), 4)
    assert found.signature.startswith("scikit-learn:") and found.signature.endswith("|positive:yes")


@pytest.mark.parametrize("name", ["accuracy", "matthews"])
def test_the_order_in_which_examples_are_collected_counts_nothing(name):
    found = compute_interval(name, EXAMPLES, resamples=50)
    assert found == compute_interval(name, EXAMPLES[::-1], resamples=50)
    assert found.value == compute(name, EXAMPLES).value
    assert found.low < found.high


@pytest.mark.parametrize("name", ["accuracy", "matthews"])
def test_two_systems_on_the_same_examples(name):
    other = [dataclasses.replace(each, prediction="yes") for each in EXAMPLES[::-1]]
    found = compute_difference(name, EXAMPLES, other, resamples=50)
    assert found.value == pytest.approx(compute(name, EXAMPLES).value - compute(name, other).value)
    # Systems that err on the same examples differ by nothing, however wide their own intervals are.
    assert compute_difference(name, EXAMPLES, EXAMPLES[::-1], resamples=20) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="same examples"):
        compute_difference(name, EXAMPLES, other[:3], resamples=2)
    relabelled = [dataclasses.replace(each, reference="yes") for each in EXAMPLES]
    with pytest.raises(ValueError, match="same examples"):
        compute_difference(name, EXAMPLES, relabelled, resamples=2)


def test_two_examples_of_one_id_are_refused():
    with pytest.raises(ValueError, match="id 'a'"):
        compute("accuracy", [*EXAMPLES, EXAMPLES[1]])


def test_slices():
    by_source = compute_slices("accuracy", "source", EXAMPLES)
    assert {name: (each.value, each.examples) for name, each in by_source.items()} == {
        "web": (0.5, 2),
        "books": (1.0, 1),
        "unknown": (1.0, 1),
    }
    assert {name: [each.id for each in part] for name, part in sliced("length", EXAMPLES).items()} == {
        "0-16": ["c", "a"],
        "17-32": ["b"],
        "unknown": ["d"],
    }
    assert {name: len(part) for name, part in sliced("label", EXAMPLES).items()} == {"no": 2, "yes": 2}


def test_slices_that_there_are_not():
    with pytest.raises(ValueError, match=r"'sorce'.* source"):
        sliced("sorce", EXAMPLES)
    with pytest.raises(ValueError, match=r"'a' .*label"):
        sliced("label", [Collected("a", ["x"], "x")])
    with pytest.raises(ValueError, match="length -1"):
        sliced("length", [Collected("a", "x", "x", length=-1)])
