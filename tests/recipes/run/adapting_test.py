"""A run that adapts a model: trained, kept, exported, served and evaluated without an objective."""

from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.evaluation.eval_config import build_eval_config
from firth.evaluation.metrics import metrics_of
from firth.models import HEADS, TaskModel, build_model, load_model, save_model
from firth.models.bundle import read_recipe
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.kinds import RUN_RECIPES
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving import Client, load_served
from firth.serving.encoding import parse_rows
from firth.serving.evaluate import evaluator
from firth.serving.saved_model import export
from firth.serving.served_model import Served
from firth.serving.signatures import SIGNATURES, text_signatures
from firth.serving.validation import validate_serving
from firth.tasks import TASKS
from firth.tokenizers import load_tokenizer, save_tokenizer
from firth.training.checkpoints import run_key
from firth.tuning import METHODS
from tests import trivial_task
from tests.exported_model import RECIPE, first_signature_alone, make_served
from tests.forked_validation import forked_validation

TEXTS = ["the cat sat .", "the word .", "a cat", "on the mat", "you shall know a cat", "it keeps company ."]


@pytest.fixture(autouse=True, scope="module")
def tables():
    """The tables, with the trivial task, its heads, its signature and the trivial method in them."""
    recipe_types = {"task": trivial_task.TextLabelRecipe}
    with (
        mock.patch.dict(TASKS, text_label=trivial_task.TextLabelTask),
        mock.patch.dict(METHODS, heads_alone=trivial_task.freeze_backbone),
        mock.patch.dict(HEADS, text_label=trivial_task.TextLabelHeads),
        mock.patch.dict(SIGNATURES, classify=trivial_task.offer_classify),
        mock.patch.dict(RUN_RECIPES, recipe_types),
    ):
        yield


@pytest.fixture(scope="module")
def adapted(tmp_path_factory) -> tuple[Served, str]:
    """A model that was adapted from a bundle, and the bundle that was made of it."""
    folder = tmp_path_factory.mktemp("adapting")
    base = make_served(RECIPE)
    save_tokenizer(base.tokenizer, folder / "tokenizer")
    save_model(base.model, RECIPE, folder / "tokenizer", folder / "base")
    recipe = adapting_recipe(str(folder / "base"))
    model = build_model(recipe)
    model.backbone.set_weights(load_model(recipe.base.bundle).backbone.get_weights())
    METHODS[recipe.method.kind](model, recipe.method, 1)
    served = Served(model, load_tokenizer(folder / "base" / "tokenizer"), recipe)
    model.compile(keras.optimizers.Adam(0.03))
    model.fit(tf.data.Dataset.from_tensors(batch_of(served)).repeat(), steps_per_epoch=300, verbose=0)
    save_model(model, recipe, folder / "base" / "tokenizer", folder / "adapted")
    return served, str(folder / "adapted")


@pytest.fixture(scope="module")
def exported(adapted, tmp_path_factory) -> str:
    """The SavedModel of the adapted model."""
    served, _ = adapted
    directory = str(tmp_path_factory.mktemp("exported") / "model")
    with first_signature_alone():
        export(served.model, served.tokenizer, served.recipe, None, directory)
    return directory


def adapting_recipe(start: str) -> trivial_task.TextLabelRecipe:
    """A recipe over a bundle, whose tokenizer, rows and model it takes."""
    base = read_recipe(start)
    return trivial_task.TextLabelRecipe(
        name="adapted",
        seed=3,
        data={"kind": "columns", "train": "labelled.csv"},
        base={"bundle": start, "digest": digest_of_bundle(start)},
        tokenizer=base.tokenizer,
        sequences=base.sequences,
        model=base.model,
        training=base.training,
        evaluation={"thresholds": ()},
        export=base.export,
    )


def record(tokenizer, number: int, text: str) -> bytes:
    """A labelled record on disk: 1 for texts about a cat."""
    tokens = tokenizer.tokenize(text).numpy().tolist()
    fields = {"example_id": [number], "tokens": tokens, "chunk_lengths": [len(tokens)]}
    fields |= {"document_keys": [number + 1], "label": [int("cat" in text)]}
    made = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=value)) for name, value in fields.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def records(served) -> list[bytes]:
    return [record(served.tokenizer, number, text) for number, text in enumerate(TEXTS)]


def batch_of(served):
    specs = served.recipe.goal.row_specs(served.recipe.sequences)
    rows, _ = parse_rows(tf.constant(records(served)), specs)
    make = served.features_function()
    outputs = {name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in make.specs().items()}
    return tf.map_fn(lambda row: make(row, None, [0, 0]), rows, fn_output_signature=outputs)


def test_it_is_a_run_over_the_base_of_all_runs(adapted):
    recipe = adapted[0].recipe
    assert isinstance(recipe, RunRecipe) and isinstance(RECIPE, RunRecipe)
    assert not hasattr(recipe, "objective") and recipe.goal is recipe.task
    key = run_key(recipe, "data", "tokenizer")
    assert key == run_key(recipe.model_copy(update={"name": "other"}), "data", "tokenizer")
    elsewhere = recipe.base.model_copy(update={"bundle": "another/place"})
    assert key == run_key(recipe.model_copy(update={"base": elsewhere}), "data", "tokenizer")
    another = recipe.base.model_copy(update={"digest": "0" * 64})
    for changed in ({"seed": 4}, {"base": another}, {"method": trivial_task.HeadsAlone(rate=0.5)}):
        assert key != run_key(recipe.model_copy(update=changed), "data", "tokenizer")


def test_it_learns_on_a_backbone_that_stays_as_it_was(adapted):
    served, _ = adapted
    base = load_model(served.recipe.base.bundle)
    for found, before in zip(served.model.backbone.weights, base.backbone.weights):
        np.testing.assert_array_equal(found, before)
    logits = served.model.logits(served.encode(TEXTS).features)["label"]
    assert np.argmax(logits[:, 0], axis=-1).tolist() == [int("cat" in text) for text in TEXTS]


def test_its_bundle_stands_on_its_own(adapted):
    served, bundle = adapted
    loaded = load_served(bundle)
    assert isinstance(loaded.model, TaskModel) and loaded.recipe == served.recipe
    features = served.encode(TEXTS).features
    wanted = served.model.logits(features)["label"]
    np.testing.assert_array_equal(loaded.model.logits(features)["label"], wanted)


@pytest.mark.repeated
def test_it_is_exported_served_and_evaluated(adapted, exported):
    served, _ = adapted
    recipe = served.recipe
    assert list(text_signatures(recipe)) == ["classify", "embed", "embed_tokens"]
    client = Client(exported)
    assert [made["label"] for made in client.ask("classify", TEXTS[:2])] == [1, 0]
    sums = tf.saved_model.load(exported).signatures["evaluate"](examples=tf.constant(records(served)))
    totals = {name: float(tf.reduce_sum(value)) for name, value in sums.items()}
    assert totals["label_correct_sum"] == totals["label_weight_sum"] == len(TEXTS)
    assert {name: metric(totals) for name, metric in metrics_of(recipe.goal.loss_classes).items()} == {
        "label_accuracy": 1.0
    }
    config = build_eval_config(recipe.evaluation, recipe.goal)
    assert [metric.class_name for metric in config.metrics_specs[0].metrics] == [
        "ExampleCount",
        "MetricOfSums",
    ]


@pytest.mark.repeated
def test_it_passes_what_every_served_model_must_pass(adapted, exported):
    with forked_validation():
        report = validate_serving(exported, records(adapted[0]))
    assert report["blessed"], report["reasons"]
    assert {"classify", "evaluate"} <= set(report["signatures"])


def test_a_row_without_its_label_is_refused(adapted):
    served, _ = adapted
    example = tf.train.Example.FromString(records(served)[0])
    del example.features.feature["label"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="label"):
        evaluator(served, None)(tf.constant([example.SerializeToString()]))
