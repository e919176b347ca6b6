import pytest
from hypothesis import given, settings, strategies as st

from firth.scores.entities import entity_f1, entity_f1_strict, invalid_tags


def test_the_example_of_seqeval():
    """The two sentences of its README, with F1 of 0.50: one of two entities has its words."""
    right = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    predicted = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    assert entity_f1(right, predicted) == entity_f1_strict(right, predicted) == 0.5


def test_strict_and_default_on_an_invalid_beginning():
    """conlleval takes `I-` after `O` for a beginning; in strict IOB2 there is no entity."""
    right, predicted = [["B-NP", "I-NP", "O"]], [["I-NP", "I-NP", "O"]]
    assert entity_f1(right, predicted) == 1.0
    assert entity_f1_strict(right, predicted) == 0.0
    assert invalid_tags(predicted) == [(0, 0)]
    assert invalid_tags(right) == []


def test_invalid_tags_are_told():
    assert invalid_tags([["B-A", "I-B", "I-B", "O", "I-A"], ["E-A", "B"]]) == [(0, 1), (0, 4), (1, 0), (1, 1)]


def entities(sentences):
    """A second way: spans of B- followed by I- of the same type."""
    found = set()
    for place, tags in enumerate(sentences):
        for start, tag in enumerate(tags):
            if tag.startswith("B-"):
                end = start + 1
                while end < len(tags) and tags[end] == f"I-{tag[2:]}":
                    end += 1
                found.add((place, start, end, tag[2:]))
    return found


TAGS = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
PAIRS = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(TAGS, min_size=n, max_size=n)] * 2))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_strict_is_f1_of_the_spans(pairs):
    right, predicted = map(list, zip(*pairs))
    spans, given_ = entities(right), entities(predicted)
    total = len(spans) + len(given_)
    assert entity_f1_strict(right, predicted) == pytest.approx(
        2 * len(spans & given_) / total if total else 0
    )


def continued(tags: list[str]) -> list[str]:
    """Valid tags: an `I-` that continues nothing becomes a `B-`."""
    valid: list[str] = []
    for tag in tags:
        continues = bool(valid) and tag[1:] == valid[-1][1:]
        valid.append(tag if tag[0] != "I" or continues else f"B{tag[1:]}")
    return valid


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_the_two_scores_differ_only_where_tags_are_invalid(pairs):
    right, predicted = ([continued(tags) for tags in column] for column in zip(*pairs))
    assert invalid_tags([*right, *predicted]) == []
    assert entity_f1(right, predicted) == pytest.approx(entity_f1_strict(right, predicted))


@pytest.mark.parametrize("score", [entity_f1, entity_f1_strict])
def test_unequal_sentences_and_unknown_tags_are_refused(score):
    with pytest.raises(ValueError, match=r"sentence 1 .*2 tags.* 1 "):
        score([["O"], ["O", "B-A"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="the tag 'PER'"):
        score([["PER"]], [["O"]])
    assert score([["O"]], [["O"]]) == 0.0


def test_strict_refuses_another_scheme():
    assert entity_f1([["S-PER"]], [["S-PER"]]) == 1.0
    with pytest.raises(ValueError, match="the tag 'S-PER'"):
        entity_f1_strict([["S-PER"]], [["S-PER"]])
