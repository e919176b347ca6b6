"""The whole way, on real text: from docstrings to a served model, with cache and changed keys."""

import json
import logging
import pathlib
import re
import sys

import absl.logging
import numpy as np
import pytest
import tensorflow as tf

import firth
from firth.cli.runs_on_disk import read_run
from firth.corpus import SPLITS
from firth.language_model.rows import corpus_rows
from firth.models import load_model
from firth.pipelines import local, results
from firth.recipes.reading.loading import load_recipe
from firth.recipes.run.stages import rows_folder
from firth.serving import Client
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.tokenizers import load_tokenizer
from tests.corpus.helpers import read_records
from tests.exported_model import first_signature_alone

STEPS = 12
OVERRIDES = (
    "sources=[{kind: docstrings, packages: [json, email], standard_library: false}]",
    "cleaning.split.eval_fraction=0.1",
    "tokenizer.vocabulary_size=400",
    "sequences={length: 32, max_documents: 2, shards: 2}",
    "objective={max_predictions: 5, next_sentence: false}",
    "model={layers: 1, width: 32, attention: {heads: 2}, positions: {length: 32}}",
    f"training={{steps: {STEPS}, batch_size: 4, checkpoint_every_steps: 3, log_every_steps: 1, "
    "earlier_stages: [{length: 16, steps_fraction: 0.5, batch_size: 8, max_predictions: 3}], "
    "optimizer: {learning_rate: 1e-3, warmup_steps: 2}}",
    "evaluation.thresholds=[]",
)


SCHEMA_CHECKS = ("PinnedSchemaGen", "ExampleValidator", "AnomalyValidator")


def tiny(*overrides: str):
    return load_recipe("demo", [*OVERRIDES, *overrides])


def states(result):
    """Returns the state in which each component ended; a Resolver is never cached."""
    ended = {component.name: component.state for component in result.components}
    assert ended.pop("LatestBlessedModel") == "finished"
    # The second run in a folder is checked against the schema that the first one left there.
    return {name: state for name, state in ended.items() if name not in SCHEMA_CHECKS}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def converted_before():
    return converted()


@pytest.fixture(scope="module")
def messages():
    """Messages that TFX logs."""
    return []


@pytest.fixture(scope="module")
def events():
    """Those of the first run."""
    return []


@pytest.fixture(scope="module")
def first(root, converted_before, messages, events):
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    absl.logging.get_absl_logger().addHandler(handler)
    try:
        # Two of its signatures, which the tests below ask.
        with first_signature_alone(count=2):
            return local.run(tiny(), root, local.RunOptions(on_event=events.append))
    finally:
        absl.logging.get_absl_logger().removeHandler(handler)


@pytest.fixture(scope="module")
def client(first):
    """A client of the model that the first run has pushed."""
    return Client(first.pushed)


def converted() -> set[str]:
    """Modules of one function each, which AutoGraph has rewritten in this process."""
    return {name for name in sys.modules if name.startswith("__autograph_generated")}


def history(run_dir: pathlib.Path) -> list[dict]:
    (path,) = run_dir.glob("pipeline/Trainer/model_run/*/history.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def losses(run_dir: pathlib.Path) -> dict[int, float]:
    return {entry["step"]: entry["loss"] for entry in history(run_dir)}


def test_raw_text_becomes_a_served_model_without_thresholds_too(first, client):
    assert first.blessed and first.reasons == ()
    assert first.pushed == first.served is not None
    (candidates,) = client.fill_mask(["Return the [MASK] of the message."])
    assert len(candidates[0]) == 5
    assert client.embed(["a string", "two strings"]).shape == (2, 32)
    assert list(losses(first.run_dir)) == list(range(1, STEPS + 1))


def test_the_front_door_packs_the_same_rows(first, tmp_path):
    made = corpus_rows(tiny(), None, str(tmp_path))
    assert load_tokenizer(made.tokenizer).digest == load_tokenizer(first.bundle / "tokenizer").digest
    for split in SPLITS:
        own = sorted(read_records(f"{tmp_path}/rows/Split-{split}/*"))
        assert own == sorted(read_records(f"{first.outputs['SequenceGen']['examples']}/Split-{split}/*"))


@pytest.mark.repeated
def test_the_front_door_trains_the_same_weights(first):
    own = firth.pretrain(tiny(), verbose=False)
    for one, other in zip(own.get_weights(), load_model(first.bundle).get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    curve = losses(first.run_dir)
    assert dict(zip(own.history.epoch, own.history.history["loss"], strict=True)) == curve


def test_a_run_trains_on_short_rows_first(first, events):
    short = first.outputs["SequenceGen"]["examples"] / rows_folder(16)
    assert any(path.is_file() for path in short.rglob("*"))
    tokens = [entry["tokens"] for entry in history(first.run_dir)]
    in_step = [later - earlier for earlier, later in zip([0, *tokens], tokens)]
    # Eight rows of 16 tokens, then four of 32.
    assert min(in_step) > 0 and max(in_step) <= 8 * 16
    assert [event["step"] for event in events if event["kind"] == "training"][-1] == STEPS


def test_a_trained_model_is_picked_up_again(first, client):
    model = load_model(first.bundle)
    tokenizer = load_tokenizer(first.bundle / "tokenizer")
    assert model.backbone.token_embedding.table.shape[0] >= tokenizer.vocabulary_size()
    assert str(first.bundle) == json.loads((first.run_dir / results.SUMMARY_FILE).read_text())["bundle"]
    assert read_run(first.run_dir).is_finished
    # What the model answers from raw strings, it answers from the features that these become.
    embedded = client.embed(["a string"])
    with open(first.bundle / "recipe.yaml", encoding="utf-8") as file:
        assert "max_predictions: 5" in file.read()
    served = Served(model, tokenizer, tiny())
    again = text_signatures(tiny())["embed"].function(served, tf.constant(["a string"]))
    np.testing.assert_allclose(again["embedding"], embedded, atol=1e-5)


def test_the_report_and_the_summary_stand_in_the_run(first):
    report = (first.run_dir / results.REPORT_FILE).read_text()
    assert "mlm_<wbr>perplexity" in report
    summary = json.loads((first.run_dir / results.SUMMARY_FILE).read_text())
    assert summary["evaluation"]["overall"]["mlm_perplexity"] > 1
    assert json.loads((first.run_dir / "timings.json").read_text()).keys() >= {"Curator", "Trainer"}


def test_no_time_goes_into_what_a_local_run_does_not_need(first, converted_before, messages):
    """Packages of TFX itself for workers elsewhere, and a search of our code for control flow to rewrite."""
    assert "Component Curator is running." in messages
    assert not [message for message in messages if "sdist package" in message]
    sources = [pathlib.Path(sys.modules[name].__file__) for name in converted() - converted_before]
    functions = [name for source in sources for name in re.findall(r"def tf__(\w+)", source.read_text())]
    # TensorFlow's own, when it saves a model.
    assert set(functions) <= {"signature_wrapper"}


def test_an_unchanged_run_is_all_cache(first, root):
    again = local.run(tiny(), root)
    assert set(states(again).values()) == {"cached"}
    assert again.pushed == first.pushed


def test_a_changed_key_reruns_only_what_depends_on_it(first, root):
    changed = local.run(tiny("evaluation.thresholds=[{metric: mlm_perplexity, upper_bound: 1.0}]"), root)
    ran = {name for name, state in states(changed).items() if state == "finished"}
    assert ran == {"Evaluator", "Pusher", "Reporter"}
    assert not changed.blessed and changed.pushed is None and changed.served == first.pushed
    (reason,) = changed.reasons
    assert reason.startswith("mlm_perplexity is ") and reason.endswith(", at most 1 is asked")
    summary = json.loads((changed.run_dir / results.SUMMARY_FILE).read_text())
    assert (summary["pushed"], summary["served"]) == (None, str(first.pushed))
    assert summary["reasons"] == [reason]
