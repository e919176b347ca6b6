import pytest
import tensorflow as tf

from firth.corpus.documents.example import Example
from firth.tasks.labelled.examples import from_example, parts_of, to_example
from firth.tasks.readers import AnswerSpan, LabelledRecord

QUESTION = {"question": "When?", "context": "In 1066, and again in 1066."}
CHOICES = {"context": "It rained.", "choices": ("She stayed in.", "Sie blieb zuhause. \u2028é")}
# Each role, and each Python type of a label.
CASES = {
    "class": ({"text": "A film."}, "good"),
    "class of a pair": ({"text": "A film.", "pair": "A movie."}, "1"),
    "number": ({"text": "A film.", "pair": "A movie."}, 2.5),
    "whole number": ({"text": "A film."}, 0.0),
    "choice": (CHOICES, 1),
    "first choice": (CHOICES, 0),
    "tags": ({"words": ("EU", "rejects")}, ("B-ORG", "O")),
    "one tag": ({"words": ("EU",)}, ("B-ORG",)),
    "answers": (QUESTION, (AnswerSpan("1066", 3), AnswerSpan("1066", 22))),
    "no answer": (QUESTION, ()),
    "target": ({"text": "A long body."}, "A summary."),
    "targets": ({"context": "a", "question": "b", "choices": ("c", "d")}, ("c", "d")),
    "answer": ({"context": "a", "question": "b", "answer": "c"}, "0"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_record_comes_back(case):
    texts, label = CASES[case]
    found, source = from_example(to_example(LabelledRecord("7", texts, label, "a.csv", 8), "reviews"))
    assert found == LabelledRecord("7", texts, label, "", 0) and source == "reviews"
    assert type(found.label) is type(label)


def features_of(texts, label) -> dict[str, list]:
    """Returns the features that TensorFlow reads."""
    data = to_example(LabelledRecord("7", texts, label, "a.csv", 8), "reviews")
    found = tf.train.Example.FromString(data).features.feature
    return {name: list(getattr(each, each.WhichOneof("kind")).value) for name, each in found.items()}


def test_features():
    either = {"id": [b"7"], "source": [b"reviews"]}
    assert features_of(*CASES["class of a pair"]) == {
        **either,
        "text": [b"A film."],
        "text/bytes": [7],
        "text/words": [2],
        "pair": [b"A movie."],
        "pair/bytes": [8],
        "pair/words": [2],
        "label": [b"1"],
    }
    assert features_of(*CASES["whole number"])["label"] == [0.0]
    assert features_of(*CASES["first choice"]) == {
        **either,
        "context": [b"It rained."],
        "context/bytes": [10],
        "context/words": [2],
        "choices": [each.encode() for each in CHOICES["choices"]],
        "choices/bytes": [39],
        "choices/words": [7],
        "label": [0],
    }
    assert features_of(*CASES["tags"])["label"] == [b"B-ORG", b"O"]
    answers = features_of(*CASES["answers"])
    assert answers["answers"] == [b"1066", b"1066"] and answers["answer_starts"] == [3, 22]
    assert features_of(*CASES["no answer"])["answers"] == []


def test_a_record_without_a_label_is_never_written():
    with pytest.raises(TypeError, match="no label"):
        to_example(LabelledRecord("7", {"text": "a"}, None, "a.csv", 8), "reviews")


def test_numbers_and_places_have_the_types_of_their_features():
    numbers = Example.FromString(to_example(LabelledRecord("7", {"text": "a"}, 3.0, "", 0), "s"))
    assert numbers.features.feature["label"].HasField("float_list")
    places = Example.FromString(to_example(LabelledRecord("7", {"text": "a"}, 3, "", 0), "s"))
    assert places.features.feature["label"].HasField("int64_list")
    for case in ("answers", "no answer"):
        texts, label = CASES[case]
        found = Example.FromString(to_example(LabelledRecord("7", texts, label, "", 0), "s")).features.feature
        assert found["answers"].HasField("bytes_list") and found["answer_starts"].HasField("int64_list")


def test_what_is_counted():
    assert parts_of(("O", "B-PER", "O")).counted == ("O", "B-PER", "O")
    assert parts_of(()).counted == ("no answer",)
    assert not parts_of(1).must_differ and parts_of(1.0).must_differ
