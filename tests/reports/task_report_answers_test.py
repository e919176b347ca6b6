"""The report's parts on answers, for each kind of task."""

import numpy as np
import pytest

from firth import features as names
from firth.corpus.io.records import write_records
from firth.corpus.packing.rows import Chunk, make_row
from firth.recipes.tasks.text_to_text import TextToText
from firth.reports.task_report import MOST_CLASSES, WRONG, Confusion, ask_rows, confusion_of, wrong_answers
from firth.scores import Collected
from firth.tasks.labelled.examples import to_example
from firth.tasks.readers.records import LabelledRecord
from firth.tasks.texts import key_of


@pytest.mark.parametrize(("answers", "expected"), [
    ([("no", "no"), ("no", "yes")], Confusion(("no", "yes"), [[1, 1], [0, 0]])),
    ([(("O", "B"), ["O", "O"]), (("O",), ["O"])], Confusion(("B", "O"), [[0, 1], [0, 2]])),
    ([(1.5, 2.0)], None),
    ([(("1066",), "1067")], None),
    ([(str(number), "0") for number in range(MOST_CLASSES + 1)], None),
    ([], None),
])  # fmt: skip
def test_classes_and_tags_are_counted(answers, expected):
    made = [Collected(str(number), *pair) for number, pair in enumerate(answers)]
    assert confusion_of(made) == expected


@pytest.mark.parametrize(("pairs", "shown"), [
    ([("no", "no"), ("no", "yes")], [("film 1", "no", "yes")]),
    ([(1.0, 1.25), (1.0, 4.0), (1.0, 1.0)], [("film 1", "1.000", "4.000"), ("film 0", "1.000", "1.250")]),
    ([(("a", "b"), "b"), (("a", "b"), "c")], [("film 1", "a b", "c")]),
    ([("no", None)], []),
])  # fmt: skip
def test_wrong_answers_are_shown_with_their_texts(tmp_path, pairs, shown):
    records = [LabelledRecord(str(n), {"text": f"film {n}"}, "no", "", 0) for n in range(len(pairs))]
    write_records(str(tmp_path / "Split-eval"), 0, 1, [to_example(each, "films") for each in records])
    answers = [Collected(str(key_of(str(number))), *pair) for number, pair in enumerate(pairs)]
    found = wrong_answers(answers, str(tmp_path))
    assert [(each.texts["text"], each.right, each.given) for each in found] == shown
    many = [Collected(str(number), "no", "yes") for number in range(99)]
    assert len(wrong_answers([*answers, *many], str(tmp_path))) <= WRONG


class _Writer:
    """A client of a model that writes one text for each of two records."""

    def __init__(self, path):
        del path

    def evaluate(self, rows):
        one = {
            names.RECORD_KEYS: [7, 8],
            names.RECORD_WEIGHTS: [1.0, 1.0],
            names.RECORD_LENGTHS: [3, 3],
            names.RECORD_TEXTS: [b"a cat", b"a dog"],
        }
        return {name: np.array([values] * len(rows)) for name, values in one.items()}


def test_a_row_brings_what_is_right_of_its_records(tmp_path, monkeypatch):
    monkeypatch.setattr("firth.serving.shared_client", _Writer)
    chunk = Chunk(7, 0, np.array([5, 6]), np.array([True, False]), np.array([True, False]))
    row = make_row("s", [chunk], details=[b'{"right": ["a cat"]}', b'{"right": ["the dog", "dog"]}'])
    write_records(str(tmp_path / "Split-eval"), 0, 1, [row.to_example()])
    found = ask_rows("model", str(tmp_path), TextToText())
    assert [(each.reference, each.prediction, each.source) for each in found] == [
        ("a cat", "a cat", "s"),
        (["the dog", "dog"], "a dog", "s"),
    ]
