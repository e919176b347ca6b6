"""Scores compared with the best constant answer, for each kind of task."""

import math
from unittest import mock

import numpy as np
import pytest

from firth.evaluation import constant_answers, record_scores
from firth.evaluation.constant_answers import comparison_sentences, constant_comparisons
from firth.evaluation.record_scores import Records, split_name
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.tasks import TextTasks, task_types
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber
from firth.scores import Collected, TextVectors

YES_NO = {"labels": ("no", "yes")}
IOB = Tagging(labels=("O", "B-LOC", "I-LOC"))
ENTITY = ("B-LOC", "I-LOC", "O")


@pytest.fixture(autouse=True, scope="module")
def few_resamples():
    with (
        mock.patch.object(record_scores, "RESAMPLES", 60),
        mock.patch.object(constant_answers, "RESAMPLES", 200),
    ):
        yield


def collected(references, predictions):
    pairs = zip(references, predictions, strict=True)
    return [Collected(f"{place:03}", *pair) for place, pair in enumerate(pairs)]


def vectors(*angles):
    return [
        TextVectors(*(np.array([np.cos(each), np.sin(each)], "float32").tobytes() for each in pair))
        for pair in angles
    ]


def texts(task, references, predictions, **baselines):
    """Records of texts, with the answers that are taken from what is read."""
    made = {key: collected(references, values) for key, values in baselines.items()}
    return task, Records(collected(references, predictions), **made)


def compared(task, records):
    """The verdict on the one headline, the constant answer, and its score."""
    made = constant_comparisons(task, records)
    (name,) = task.headlines
    (slices,) = {each for key in made if (each := split_name(key)[1])}
    return made[f"{name}_beats_constant"], slices.removeprefix("constant="), made[f"{name}[{slices}]"]


STS = [0.0, 1.0, 2.0, 3.0, 5.0] * 8
# For each kind of task, records of a model that is right, the best constant answer, and its score.
RIGHT = {
    "classification": (Classification(**YES_NO), ["no", "no", "yes"] * 12, '"no"', 2 / 3),
    "regression": (Regression(), STS, "the mean 2.2", 0.0),
    "tagging": (IOB, [ENTITY, ("O",), ("O", "O")] * 12, '"O"', 0.0),
    "span": (SpanAnswering(), [("int",), ("int", "an int"), ("float",)] * 12, '"int"', 200 / 3),
    "choice": (MultipleChoice(), [0, 1, 1, 2] * 10, "the choice number 2", 0.5),
    "text_to_text": (TextToText(scores=("exact_match",)), ["a", "a", "b"] * 12, '"a"', 2 / 3),
    "label_words": (LabelWords(**YES_NO, scores=("f1",)), ["no", "no", "yes"] * 12, '"yes"', 0.5),
    "written_number": (WrittenNumber(scores=("spearman",)), STS, "the mean 2.2", 0.0),
}


@pytest.mark.parametrize("kind", RIGHT)
def test_a_model_is_compared_with_the_best_constant_answer(kind):
    task, references, title, value = RIGHT[kind]
    inputs = {"span": lambda each: each[0]}.get(kind, lambda each: each)
    right = collected(references, [inputs(each) for each in references])
    assert compared(task, Records(right)) == (1.0, title, pytest.approx(value))
    (answers,) = [each for name, each in task.constant_answers(references).items() if name == title]
    assert compared(task, Records(collected(references, answers)))[0] == 0.0


def test_each_kind_of_task_has_a_constant_answer_or_another_bound():
    others = {"embedding": SentenceEmbedding(), "dialogue": Dialogue()}
    tasks = {"text_tasks": TextTasks(tasks={"a": TextToText()}), **others}
    assert RIGHT.keys() | tasks.keys() == task_types().keys()
    assert all(task.constant_bounds for task in tasks.values())


def test_vectors_are_compared_with_chance_and_those_that_are_all_the_same_find_nothing():
    angles = [(each, each + 0.01) for each in np.linspace(0, 3, 30)]
    task, numbers = SentenceEmbedding(), [1.0] * 30
    assert compared(task, Records(collected(numbers, vectors(*angles)))) == (1.0, "by chance", 1 / 30)
    same = Records(collected(numbers, vectors(*[(1.0, 1.0)] * 30)))
    assert compared(task, same)[0] == 0.0
    graded = SentenceEmbedding(positive_from=3.0)
    found = compared(graded, Records(collected(STS, vectors(*((0.0, (5 - each) / 2) for each in STS)))))
    assert found == (1.0, "by chance", 0.0)


def test_a_tagger_that_finds_no_entity_is_not_better_and_the_sentence_says_than_what():
    references = [ENTITY, ("O",), ("O", "O")] * 20
    wrong = [("O",) * len(each) for each in references]
    found = evaluation_of(IOB, Records(collected(references, wrong)))
    assert found["overall"]["entity_f1_beats_constant"] == 0.0
    assert comparison_sentences(found, IOB) == {
        "entity_f1_beats_constant": "entity_f1 0.000 [0.000, 0.000] is not above 0.000 of the constant "
        'answer "O" (better by 0.000 [0.000, 0.000] on 60 held-out records)'
    }


def evaluation_of(task, records):
    """The metrics by slice, as `load_evaluation` returns them."""
    slices = {"overall": {}}
    for key, value in {
        **record_scores.record_scores(task, records),
        **constant_comparisons(task, records),
    }.items():
        name, of_slice = split_name(key)
        slices.setdefault(of_slice or "overall", {})[name] = value
    return slices


def summaries(task, written):
    right = [f"a cat sat on {n}" for n in range(40)]
    return texts(task, right, written, lead=[f"a cat sat by {n}" for n in range(40)])


def test_a_writer_below_the_first_sentences_is_not_better():
    task = TextToText()
    below = [f"a dog ran to {n}" for n in range(40)]
    assert compared(*summaries(task, below)) == (
        *(0.0, "Lead-3, the first three sentences"),
        pytest.approx(0.8),
    )
    assert compared(*summaries(task, [f"a cat sat on {n}" for n in range(40)]))[0] == 1.0


def test_other_texts_are_compared_with_copies_of_what_is_read():
    task = TextToText(scores=("exact_match",))
    right = [f"text {n}" for n in range(40)]
    copies = [text if n < 30 else "" for n, text in enumerate(right)]
    assert compared(*texts(task, right, copies, copies=copies)) == (0.0, "a copy of the text", 0.75)
    assert compared(*texts(task, right, right, copies=copies))[0] == 1.0


def test_a_score_that_reads_no_reference_has_no_constant_answer_to_be_compared_with():
    """One valid text would be the best answer to all records, so that only a perfect model was as good."""
    task = TextToText(scores=("schema_valid",), schema={"enum": [1]})
    complete = collected(["1"] * 40, ["1"] * 39 + [""])
    found = evaluation_of(task, Records(complete, complete=complete, constrained=complete))
    assert found["overall"]["schema_valid"] == 39 / 40
    assert comparison_sentences(found, task) == {
        "schema_valid_beats_constant": "schema_valid has no constant answer to be compared with"
    }


def test_each_task_of_several_is_compared():
    task = TextTasks(tasks={"a": TextToText(scores=("exact_match",)), "b": LabelWords(**YES_NO)})
    parts = [("a", "x", "x"), ("a", "y", "y"), ("a", "z", "z"), *[("b", "no", "no"), ("b", "yes", "no")] * 20]
    examples = [Collected(f"{n:03}", *pair, source) for n, (source, *pair) in enumerate(parts)]
    found = evaluation_of(task, Records(examples))
    assert task.comparison_metrics == ("a.exact_match_beats_constant", "b.accuracy_beats_constant")
    # No text recurs, and no copies are known: there is nothing to compare with.
    assert [found["overall"][name] for name in task.comparison_metrics] == [1.0, 0.0]
    sentences = comparison_sentences(found, task)
    assert "no constant answer" in sentences["a.exact_match_beats_constant"]
    assert '0.500 of the constant answer "no"' in sentences["b.accuracy_beats_constant"]
    alone = constant_comparisons(task, Records(examples[:3]))
    assert math.isnan(alone["b.accuracy_beats_constant"])


@pytest.mark.parametrize(
    ("references", "predictions", "verdict", "words"),
    [
        (["no"] * 20 + ["yes"] * 20, ["no"] * 22 + ["yes"] * 18, 1.0, "is above 0.500"),
        (["no"] * 20 + ["yes"] * 20, ["no"] * 35 + ["yes"] * 5, 1.0, "is above 0.500"),
        (["no"] * 20 + ["yes"] * 20, ["no"] * 39 + ["yes"], 0.0, "is not above 0.500"),
        # Right answers to so few records might be as good as a constant one by chance.
        (["no", "no", "yes"], ["no", "no", "yes"], 1.0, "by the values alone, as 3 held-out records are too"),
        (["no", "no", "yes"], ["no", "yes", "yes"], 0.0, "is not above 0.667"),
        # Nothing is better than the one class that there is.
        (["no"] * 40, ["no"] * 40, 1.0, "is as good as 1.000"),
        (["no"] * 40, ["no"] * 39 + ["yes"], 0.0, "is not as good as 1.000"),
    ],
)
def test_the_interval_decides_where_the_records_are_enough_for_one(references, predictions, verdict, words):
    task = Classification(**YES_NO)
    found = evaluation_of(task, Records(collected(references, predictions)))
    assert found["overall"]["accuracy_beats_constant"] == verdict
    assert words in comparison_sentences(found, task)["accuracy_beats_constant"]


def test_less_is_better_of_a_distance():
    task = Classification(**YES_NO, scores=("brier",))
    examples = collected(["no", "yes"] * 20, ["no", "yes"] * 20)
    for sure, verdict, words in ((0.75, 1.0, "is below 0.500"), (0.5, 0.0, "is not below 0.500")):
        given = [[sure, 1 - sure], [1 - sure, sure]] * 20
        found = evaluation_of(task, Records(examples, collected([0, 1] * 20, given)))
        assert found["overall"]["brier_beats_constant"] == verdict
        assert words in comparison_sentences(found, task)["brier_beats_constant"]


def test_no_records_and_broken_predictions_are_not_better():
    task = Classification(**YES_NO)
    for records, value in ((Records(), 0.0), (Records(broken=1), math.nan)):
        found = evaluation_of(task, records)
        assert found["overall"]["accuracy_beats_constant"] == pytest.approx(value, nan_ok=True)
        assert comparison_sentences(found, task)
