"""The score by which trials are compared."""

import json
import types

import pytest
import tensorflow as tf

from firth import features as names
from firth.recipes.tasks.tasks import TextTasks
from firth.recipes.tasks.text_to_text import LabelWords, TextToText
from firth.serving import evaluate as evaluate_module
from firth.training.search import trials as objective

COLA = LabelWords(labels=("0", "1"), words=("no", "yes"))
TASK = TextTasks(tasks={"cola": COLA, "news": TextToText(scores=("rouge_l",))})


def row(source: str, right: str) -> bytes:
    values = {names.SOURCE: source, names.RECORD_DETAILS: json.dumps({"right": [right]})}
    feature = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))
        for name, value in values.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def test_the_first_score_of_several_tasks_is_of_its_own_records(monkeypatch):
    """`news` is written wrong, and its texts are no classes."""
    rows = [row("cola", "yes"), row("news", "A storm."), row("cola", "no")]
    written = {"yes": "yes", "A storm.": "yes", "no": "no"}

    def evaluate(served, unigram):
        places = tf.range(len(rows), dtype=tf.int64)[:, tf.newaxis]
        ones, texts = tf.ones_like(places, tf.float32), [[text] for text in written.values()]
        made = {
            names.RECORD_KEYS: places,
            names.RECORD_WEIGHTS: ones,
            names.RECORD_LENGTHS: places,
            names.RECORD_TEXTS: tf.constant(texts),
        }
        return lambda batch: made

    monkeypatch.setattr(evaluate_module, "evaluator", evaluate)
    monkeypatch.setattr(objective, "first_rows", lambda files, count: rows)
    evaluation = types.SimpleNamespace(batch_size=len(rows))
    recipe = types.SimpleNamespace(task=TASK, goal=TASK, evaluation=evaluation)
    found = objective.objective_of(recipe)
    assert found == ("cola.accuracy", "max")
    assert objective.measured(found, None, None, recipe, ()) == pytest.approx(1.0)


@pytest.mark.parametrize(("scores", "found"), [
    (("schema_valid", "rouge_l"), ("rouge_l", "max")),
    (("schema_valid",), ("held_out_loss", "min")),
])  # fmt: skip
def test_trials_are_not_compared_by_a_score_that_needs_more_than_answers(scores, found):
    """An answer does not say if the length cut it."""
    goal = TextToText(scores=scores, schema={"enum": [1]})
    assert objective.objective_of(types.SimpleNamespace(goal=goal)) == found
