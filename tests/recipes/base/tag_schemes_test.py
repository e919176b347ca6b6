"""The scheme of tags, read from data."""

import pytest

from firth.recipes.base.tag_schemes import is_scheme_of_labels, tag_scheme
from firth.recipes.tasks.tagging import Tagging


@pytest.mark.parametrize(("tags", "name", "form"), [
    (("O", "B-PER", "I-PER"), "IOB2", "prefix"),
    (("O", "I-PER"), "IO", "prefix"),
    (("O", "B-PER", "I-PER", "L-PER", "U-LOC"), "BILOU", "prefix"),
    (("O", "U-LOC"), "BILOU", "prefix"),
    (("O", "B-PER", "E-PER", "S-LOC"), "BIOES", "prefix"),
    (("O", "B_PER", "M_PER", "E_PER", "S_PER"), "BMES", "prefix"),
    (("O", "PER-B", "PER-I", "creative-work-B"), "IOB2", "suffix"),
    (("B", "I", "O"), "IOB2", "bare"),
    (("B", "I", "L", "O", "U"), "BILOU", "bare"),
])  # fmt: skip
def test_schemes_are_known_by_their_tags(tags, name, form):
    found = tag_scheme(tags)
    assert (found.name, found.form) == (name, form)
    assert is_scheme_of_labels(tags) and Tagging(labels=tags).scores == ("entity_f1",)
    assert {found.chunk_tag(tag)[0] for tag in tags} <= set("OBIES")


@pytest.mark.parametrize("tags", [("NOUN", "X"), ("S", "W"), ("B-PER", "PER"), ("0", "1", "O"), ("N-B", "B")])
def test_other_tags_are_of_none(tags):
    assert not is_scheme_of_labels(tags) and Tagging(labels=tags).scores == ("tag_accuracy",)


IOB1 = [("I-PER", "B-PER", "O"), ("O", "I-LOC")]


def test_iob1_is_told_from_iob2_by_where_entities_begin():
    known = {tag for tags in IOB1 for tag in tags}
    assert tag_scheme(known, IOB1).name == "IOB1" and tag_scheme(known).name == "IOB2"
    assert Tagging().describe_labels(IOB1) == "tags: IOB1, as B-LOC; types LOC, PER"
    strict = Tagging(scores=("entity_f1_strict",))
    assert (
        "IOB1" in strict.label_problem(set(IOB1), set()) and Tagging().label_problem(set(IOB1), set()) == ""
    )
