"""TFX's own Evaluator on the outputs of a task's model, against scikit-learn on the same records."""

import itertools
import json
import math
from unittest import mock

import numpy as np
import pytest
import sklearn.metrics
import tensorflow as tf

from firth.evaluation import (
    build_eval_config,
    constant_answers,
    load_evaluation,
    load_thresholds,
    record_scores,
)
from firth.evaluation.bounds import FINITE, bounds_of
from firth.evaluation.task_metrics import ScoreOfRecords, ScoreRecords
from firth.recipes import TaskEvaluation, Threshold
from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.span import SpanAnswering
from tests.evaluation.evaluator import run_evaluator
from tests.exported_model import examples_artifact

TASK = Classification(
    labels=("yes", "no"), positive="yes", scores=("f1", "accuracy", "matthews", "expected_calibration_error")
)
RECORDS_OF_ROW = 3
SHAPES = {
    "record_keys": (tf.int64, []),
    "record_weights": (tf.float32, []),
    "record_labels": (tf.int64, []),
    "record_lengths": (tf.int64, []),
    "record_predictions": (tf.float32, [2]),
}
RANDOM = np.random.default_rng(7)
LABELS = RANDOM.integers(0, 2, 40)
# Right more often than not, and never sure.
YES = np.clip(np.where(LABELS == 0, 0.62, 0.38) + RANDOM.normal(0, 0.2, 40), 0.01, 0.99).astype(np.float32)
LENGTHS = RANDOM.integers(5, 40, 40)
# A corpus was found to hold these. Most rows have none of them, and say nothing of it.
FOUND = np.isin(np.arange(40), [0, 2, 7, 30])
SOURCES = np.where(np.arange(40) < 24, "web", "books")


class Answers(tf.Module):
    """A model whose rows hold its answers."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def evaluate(self, examples):
        schema = {
            name: tf.io.FixedLenFeature([RECORDS_OF_ROW, *shape], dtype)
            for name, (dtype, shape) in SHAPES.items()
        }
        outputs = tf.io.parse_example(examples, schema)
        real, sure = outputs["record_weights"], outputs["record_predictions"]
        hits = tf.cast(tf.argmax(sure, axis=2) == outputs["record_labels"], tf.float32) * real
        sums = {"label_loss_sum": -real, "label_correct_sum": hits, "label_weight_sum": real}
        return {**outputs, **{name: tf.reduce_sum(value, axis=1) for name, value in sums.items()}}


def outputs_of(records):
    """The outputs of a row of some records; places without a record weigh nothing and hold NaN."""

    def column(values, fill):
        return [*values, *[fill] * (RECORDS_OF_ROW - len(records))]

    return {
        "record_keys": column([each + 1 for each in records], 0),
        "record_weights": column([1.0] * len(records), 0.0),
        "record_labels": column(LABELS[records].tolist(), 0),
        "record_lengths": column(LENGTHS[records].tolist(), 0),
        "record_predictions": column([[YES[each], 1 - YES[each]] for each in records], [math.nan] * 2),
    }


def row(records):
    source = SOURCES[records[0]].encode()
    features = {"source": tf.train.Feature(bytes_list=tf.train.BytesList(value=[source]))}
    for name, values in outputs_of(records).items():
        flat = np.ravel(values).tolist()
        if SHAPES[name][0] == tf.int64:
            features[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=flat))
        else:
            features[name] = tf.train.Feature(float_list=tf.train.FloatList(value=flat))
    if found := [each + 1 for each in records if FOUND[each]]:
        features["found_keys"] = tf.train.Feature(int64_list=tf.train.Int64List(value=found))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def rows():
    """Rows of three records, of two and of one, each of one source."""
    cuts = [0, 3, 5, 6, *range(8, 24, 2), *range(24, 40, 3), 40]
    return [row(list(range(start, end))) for start, end in itertools.pairwise(cuts)]


@pytest.fixture(autouse=True, scope="module")
def few_resamples():
    with (
        mock.patch.object(record_scores, "RESAMPLES", 60),
        mock.patch.object(constant_answers, "RESAMPLES", 60),
    ):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("answers")


@pytest.fixture(scope="module")
def model(folder):
    answers = Answers()
    directory = str(folder / "model" / "Format-Serving")
    tf.saved_model.save(answers, directory, signatures={"evaluate": answers.evaluate})
    return str(folder / "model")


@pytest.fixture(scope="module")
def examples(folder):
    return examples_artifact(str(folder / "examples"), rows())


def expected(members):
    right, given = LABELS[members] == 0, YES[members] > 0.5
    return {
        "f1": sklearn.metrics.f1_score(right, given),
        "accuracy": np.mean(right == given),
        "matthews": sklearn.metrics.matthews_corrcoef(right, given),
    }


def config_of(*thresholds):
    return build_eval_config(TaskEvaluation(thresholds=thresholds), TASK)


@pytest.fixture(scope="module")
def evaluated(folder, model, examples):
    """Returns the Evaluator's folder of the model next to itself as a baseline, and whether it is blessed.

    One threshold is kept, and one, of the end of an interval, is broken.
    """
    f1 = expected(np.ones(40, bool))["f1"]
    thresholds = [Threshold(metric="f1", lower_bound=f1 - 1e-6), Threshold(metric="f1_low", lower_bound=f1)]
    evaluation, blessing = run_evaluator(folder, examples, model, config_of(*thresholds), baseline=True)
    return evaluation.uri, blessing.get_int_custom_property("blessed")


def test_scores_of_all_records_stand_by_source_length_and_label(evaluated):
    found = load_evaluation(evaluated[0])
    names = [
        "overall",
        'constant="yes"',
        "label=no",
        "label=yes",
        "length=0-16",
        "length=17-32",
        "length=33-64",
    ]
    assert list(found) == [*names, "source=books", "source=web", "subset=clean"]
    members = {
        "overall": LABELS >= 0,
        "source=web": SOURCES == "web",
        "source=books": SOURCES == "books",
        "length=17-32": (LENGTHS > 16) & (LENGTHS <= 32),
        "subset=clean": ~FOUND,
    }
    for name, each in members.items():
        for score, value in expected(each).items():
            assert found[name][score] == pytest.approx(value, abs=1e-9), (name, score)
    # Next to a baseline, here the same model, each metric also has a difference.
    accuracy = pytest.approx(np.mean(YES[LABELS == 0] > 0.5))
    counts = {"example_count": np.sum(LABELS == 0), "example_count_diff": 0}
    assert found["label=yes"] == {"accuracy": accuracy, "accuracy_diff": 0.0, **counts}
    assert found["source=web"]["example_count"] == np.sum(SOURCES == "web")
    overall = found["overall"]
    for each in (overall, found["subset=clean"]):
        for score in TASK.scores:
            assert each[f"{score}_low"] < each[score] < each[f"{score}_high"]
    assert (overall["example_count"], found["subset=clean"]["example_count"]) == (40, 36)
    assert overall["label_accuracy"] == pytest.approx(overall["accuracy"])
    assert overall["row_count"] == len(rows())


def test_the_end_of_an_interval_can_be_bounded_even_next_to_a_baseline(evaluated):
    uri, blessed = evaluated
    assert blessed == 0
    assert {each.metric: each.ok for each in load_thresholds(uri)} == {"f1": True, "f1_low": False}
    f1 = expected(np.ones(40, bool))["f1"]
    for name in (None, "candidate", "baseline"):
        assert load_evaluation(uri, name)["overall"]["f1"] == pytest.approx(f1, abs=1e-9)


def test_without_thresholds_a_model_is_held_to_the_best_constant_answer(folder, model, examples):
    evaluation, blessing = run_evaluator(folder / "constant", examples, model, config_of())
    (compared,) = [each for each in load_thresholds(evaluation.uri) if each.compared]
    found = load_evaluation(evaluation.uri)
    share, constant = np.mean(LABELS == 0), found['constant="yes"']
    assert constant["f1"] == pytest.approx(2 * share / (1 + share))
    above = [constant[f"f1_above_constant{end}"] for end in ("_low", "", "_high")]
    assert above[1] == pytest.approx(found["overall"]["f1"] - constant["f1"]) and above == sorted(above)
    assert compared.ok is (above[0] > 0) is bool(blessing.get_int_custom_property("blessed"))
    assert f'{constant["f1"]:.3f} of the constant answer "yes"' in compared.text
    free = bounds_of(TaskEvaluation(beats_constant=False), TASK, TASK.metric_names)
    assert set(free.values()) == {FINITE}


def scored(rows_of_outputs, task=TASK):
    """The metrics of rows, some of which were collected by another worker."""
    key = "key"

    class Element:
        def __init__(self, outputs):
            self.outputs = {name: np.asarray(value) for name, value in outputs.items()}
            self.details = self.outputs.pop("record_details", None)

        def get_predictions(self):
            return self.outputs

        def get_features(self):
            known = {} if self.details is None else {"record_details": self.details}
            return {"source": np.array([b"web"]), **known}

    key = type("Key", (), {"model_name": ""})()
    combine = ScoreRecords(key, task.to_json())
    parts = [combine.add_input(combine.create_accumulator(), Element(each)) for each in rows_of_outputs]
    return combine.extract_output(combine.merge_accumulators([combine.create_accumulator(), *parts]))[key]


def test_scores_do_not_depend_on_how_records_are_packed():
    few = scored([outputs_of([1]), outputs_of([0, 2]), outputs_of([3, 5]), outputs_of([4, 6, 7])])
    assert few == scored([outputs_of([7, 6]), outputs_of([5, 4, 3]), outputs_of([2, 1, 0])])


def windows(*parts):
    """The outputs of a row of windows over `Norse 1066`, each with its question and its scores."""
    made = {"record_weights": [1.0] * len(parts) + [0.0], "record_predictions": [], "record_details": []}
    for id, count, answers, scores, place in parts:
        known = {"id": id, "windows": count, "answers": answers, "text": "Norse 1066", "length": 9}
        made["record_details"].append(json.dumps({**known, "places": [0, 5, 6, 10]}).encode())
        made["record_predictions"].append(scores)
        made.setdefault("predicted_starts", []).append(place)
    return {
        **made,
        "record_predictions": [*made["record_predictions"], [math.nan] * 2],
        "predicted_starts": [*made["predicted_starts"], 0],
        "predicted_ends": [*made["predicted_starts"], 0],
    }


def test_windows_of_all_rows_are_joined_to_questions():
    """Question a is right by its second window; b has no answer, and none is likelier in each window."""
    task = SpanAnswering(unanswerable=True)
    first = windows(("a", 2, ["1066"], [3.0, 1.0], 0), ("b", 1, [], [2.0, 1.0], 1))
    found = scored([first, windows(("a", 2, ["1066"], [0.5, 4.0], 1))], task)
    assert set(task.score_metrics) <= set(found)
    assert (found["squad_exact_match"], found["squad_f1"]) == (100.0, 100.0)
    wrong = windows(("a", 2, ["1066"], [0.5, 4.0], 0))
    assert scored([first, wrong], task)["squad_f1"] == 50.0
    with pytest.raises(ValueError, match=r"'a' .* 1 .* 2 windows"):
        scored([first], task)


def test_predictions_that_are_not_numbers_keep_no_bound():
    broken = outputs_of([0, 1])
    broken["record_predictions"][1] = [math.nan, math.nan]
    found = scored([broken, outputs_of([2, 3])])
    assert set(found) == {*TASK.score_metrics, *TASK.comparison_metrics}
    assert all(math.isnan(value) for value in found.values())


def test_a_missing_prediction_and_a_record_that_is_there_twice_are_errors():
    without = outputs_of([0, 1])
    del without["record_predictions"]
    with pytest.raises(ValueError, match=r"record_predictions.* record_keys"):
        scored([without])
    with pytest.raises(ValueError, match="id '1'"):
        scored([outputs_of([0]), outputs_of([0])])


def test_unknown_metrics_and_scores_are_refused():
    with pytest.raises(ValueError, match=r"'f1_lo'.* f1_low"):
        ScoreOfRecords("f1_lo", TASK.model_dump(mode="json"))
    task = Classification(labels=("a", "b"), scores=("acuracy",))
    with pytest.raises(ValueError, match=r"'acuracy'.* accuracy"):
        ScoreOfRecords("acuracy", task.model_dump(mode="json"))
