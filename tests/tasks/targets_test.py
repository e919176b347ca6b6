"""Targets that a vocabulary cannot write, counted before anything is trained."""

import pytest

from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.tasks import TextTasks
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.readers.records import LabelledRecord
from firth.tasks.targets import TargetsError, check_targets, count_targets
from tests.tokenizers.chat_test import byte_pair, sentence_piece, word_piece

HINDI = "यह एक फिल्म है"
SEQUENCES = Sequences(length=24, max_documents=2)
TURNS = ("user", "assistant", "user", "assistant")
HINDI_CLASSES = LabelWords(labels=("no", "yes"), words=("hello", HINDI))


def record(label, texts=None):
    return LabelledRecord("a:3", texts or {"text": "hi"}, label, "a.csv", 3)


@pytest.mark.parametrize("make", [word_piece, sentence_piece])
@pytest.mark.parametrize(
    ("task", "written", "unwritten"),
    [
        (TextToText(), record("hello hi"), record(HINDI)),
        (TextToText(), record(("hello", "hi")), record((HINDI, "hello"))),
        (HINDI_CLASSES, record("no"), record("yes")),
        (TextTasks(tasks={"a": TextToText()}), record("hello"), record(HINDI)),
        (
            Dialogue(),
            record(TURNS, {"messages": (HINDI, "hello", HINDI, "hi")}),
            record(TURNS, {"messages": ("hi", "hello", "hi", HINDI)}),
        ),
    ],
)
def test_targets_of_unknown_pieces_are_counted_and_refused_above_a_share(make, task, written, unwritten):
    tokenizer = make()
    counts = count_targets(task, SEQUENCES, tokenizer, [written] * 3)
    assert (counts.with_unknown, counts.unknown_share, counts.sentences("train")) == (0, 0.0, [])
    check_targets(counts, 0.0)
    counts = count_targets(task, SEQUENCES, tokenizer, [written, unwritten, written])
    assert counts.with_unknown == 1 and counts.examples == [("a:3", HINDI)]
    assert counts.unknown_share > 0.1 and counts.targets == (6 if isinstance(task, Dialogue) else 3)
    with pytest.raises(
        TargetsError, match=rf"1 of \d targets of train .*{HINDI}.*validation\.unknown_targets"
    ):
        check_targets(counts, 0.1)
    check_targets(counts, counts.unknown_share)


def test_a_vocabulary_of_bytes_writes_all_texts():
    counts = count_targets(TextToText(), SEQUENCES, byte_pair(), [record("hi"), record(f"a\n{HINDI}")])
    assert (counts.unknown_pieces, counts.line_ends) == (0, 0)


@pytest.mark.parametrize("make", [word_piece, sentence_piece])
def test_line_ends_that_are_lost_are_named(make):
    counts = count_targets(TextToText(), SEQUENCES, make(), [record("hello\nhi"), record("hi\n")])
    assert counts.line_ends == 1
    (said,) = [each for each in counts.sentences("train") if "line ends" in each]
    assert said.startswith("1 of 2 targets of train")


def test_targets_that_are_longer_than_their_room_are_counted():
    task = TextToText(target_tokens=4)
    counts = count_targets(task, SEQUENCES, word_piece(), [record("hello hi hello"), record("hi " * 4)])
    assert counts.cut == 1
    assert "more than 3 pieces, and lose the rest: task.target_tokens" in counts.sentences("eval")[0]


def test_tasks_that_write_nothing_have_no_targets():
    task = Classification(labels=("no", "yes"))
    assert task.most_written(SEQUENCES) == (0, "")
    assert count_targets(task, SEQUENCES, word_piece(), [record("no")]).targets == 0
    assert count_targets(WrittenNumber(), SEQUENCES, byte_pair(), [record(2.57)]).targets == 1
