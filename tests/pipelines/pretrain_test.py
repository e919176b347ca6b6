"""The whole way, on real text: from docstrings to a served model, with cache and changed keys."""

import json
import logging
import pathlib
import re
import sys

import absl.logging
import pytest

from firth.pipelines import local, results
from firth.recipes.reading.loading import load_recipe
from firth.serving import Client

STEPS = 12
OVERRIDES = (
    "sources=[{kind: docstrings, packages: [json, email, unittest], standard_library: false}]",
    "cleaning.split.eval_fraction=0.1",
    "tokenizer.vocabulary_size=400",
    "sequences={length: 32, max_documents: 2, shards: 2}",
    "objective.max_predictions=5",
    "model={layers: 1, width: 32, attention: {heads: 2}, positions: {length: 32}}",
    f"training={{steps: {STEPS}, batch_size: 4, checkpoint_every_steps: 3, log_every_steps: 1, "
    "optimizer: {learning_rate: 1e-3, warmup_steps: 2}}",
    "evaluation.thresholds=[]",
)


SCHEMA_CHECKS = ("PinnedSchemaGen", "ExampleValidator", "AnomalyValidator")


def tiny(*overrides: str):
    return load_recipe("demo", [*OVERRIDES, *overrides])


def states(result):
    """How the components ended; a Resolver is asked each time."""
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
    """What TFX logs."""
    return []


@pytest.fixture(scope="module")
def first(root, converted_before, messages):
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    absl.logging.get_absl_logger().addHandler(handler)
    try:
        return local.run(tiny(), root)
    finally:
        absl.logging.get_absl_logger().removeHandler(handler)


def converted() -> set[str]:
    """Modules of one function each, which AutoGraph has rewritten in this process."""
    return {name for name in sys.modules if name.startswith("__autograph_generated")}


def losses(run_dir: pathlib.Path) -> dict[int, float]:
    (history,) = run_dir.glob("pipeline/Trainer/model_run/*/history.jsonl")
    lines = history.read_text().splitlines()
    return {entry["step"]: entry["loss"] for entry in map(json.loads, lines)}


def test_raw_text_becomes_a_served_model_without_thresholds_too(first):
    assert first.blessed and first.reasons == ()
    assert first.pushed == first.served is not None
    client = Client(first.pushed)
    (candidates,) = client.fill_mask(["Return the [MASK] of the message."])
    assert len(candidates[0]) == 5
    assert client.embed(["a string", "two strings"]).shape == (2, 32)
    assert list(losses(first.run_dir)) == list(range(1, STEPS + 1))


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
