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


IOBES = [["B-PER", "I-PER", "E-PER", "O", "S-LOC", "S-LOC"], ["O", "B-ORG", "E-ORG", "O"]]
FOUND = [["B-PER", "E-PER", "O", "O", "S-LOC", "S-ORG"], ["O", "B-ORG", "E-ORG", "O"]]


def as_bilou(tag):
    return {"E": "L", "S": "U"}.get(tag[0], tag[0]) + tag[1:]


def as_suffix(tag):
    return tag if tag == "O" else f"{tag[2:]}-{tag[0]}"


def as_bare(tag):
    return tag[0]


@pytest.mark.parametrize("score", [entity_f1, entity_f1_strict])
@pytest.mark.parametrize("written", [
    as_bilou, as_suffix, lambda tag: as_suffix(as_bilou(tag)), lambda tag: tag.replace("-", "_"),
], ids=["BILOU", "suffix", "BILOU as suffix", "underscore"])  # fmt: skip
def test_schemes_have_the_f1_of_the_same_entities_in_seqevals_form(score, written):
    """By seqeval, on tags that it knows: two of four entities are found, of four that were given."""
    sides = [[[written(tag) for tag in tags] for tags in side] for side in (IOBES, FOUND)]
    assert score(*sides) == score(IOBES, FOUND) == 0.5


def test_bare_tags_and_iob1_are_of_entities():
    right, given_ = [["B", "I", "O", "B"]], [["B", "I", "O", "O"]]
    assert entity_f1(right, given_) == entity_f1_strict(right, given_) == pytest.approx(2 / 3)
    bilou = [[as_bare(as_bilou(tag)) for tag in tags] for tags in IOBES]
    assert entity_f1(bilou, bilou) == 1.0
    # In IOB1 the second of two neighbours begins with B; by hand, one of the three is right.
    right, given_ = [["I-PER", "I-PER", "B-PER", "O", "I-LOC"]], [["I-PER", "I-PER", "I-PER", "O", "I-LOC"]]
    assert entity_f1(right, given_) == pytest.approx(2 * 1 / (3 + 2))


@pytest.mark.parametrize("score", [entity_f1, entity_f1_strict])
def test_unequal_sentences_and_unknown_tags_are_refused(score):
    with pytest.raises(ValueError, match=r"sentence 1 .*2 tags.* 1 "):
        score([["O"], ["O", "B-A"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="the tag 'PER'"):
        score([["PER"]], [["O"]])
    assert score([["O"]], [["O"]]) == 0.0


def test_strict_refuses_a_scheme_that_seqeval_does_not_have():
    tags = [["B-PER", "M-PER", "E-PER", "S-LOC"]]
    assert entity_f1(tags, tags) == 1.0
    with pytest.raises(ValueError, match="BMES"):
        entity_f1_strict(tags, tags)
