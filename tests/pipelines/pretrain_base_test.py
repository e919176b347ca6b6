"""A run that starts from a bundle, from text to a served model: tokenizer, weights, lineage and cache."""

import contextlib
import json
import os
import pathlib
import shlex

import pytest
from ml_metadata.proto import metadata_store_pb2
from typer.testing import CliRunner

from firth.cli.main import app
from firth.models import load_model
from firth.models.bundle import weights_by_path
from firth.pipelines.lineage import metadata_store
from firth.pipelines.run_metadata import metadata_of
from firth.pipelines.trained_model import BASE_IMPORTER
from firth.recipes.reading.bundles import digest_of_bundle
from firth.tokenizers import load_tokenizer
from tests.docs.snippets import all_snippets, commands
from tests.training.artifacts import tiny_recipe, write_bundle

# `starting_test.py` shows a training that starts from a base, and `finetune_test.py` a pipeline with one.
pytestmark = pytest.mark.repeated

# Next to what the page says: sizes of a test.
OPTIONS = (
    "cleaning={steps: [], split: {eval_fraction: 0.3}}",
    "objective.next_sentence=false",
    "sequences={length: 16, shards: 2}",
    "training={steps: 3, batch_size: 4, optimizer: {learning_rate: 1e-3, warmup_steps: 0}}",
    "evaluation.thresholds=[]",
)


def command() -> list[str]:
    """The command of the how-to that continues from a published model."""
    (found,) = [
        line
        for snippet in all_snippets("sh")
        if snippet.page == "docs/how-to/continue.md"
        for line in commands(snippet)
        if line.startswith("firth run --base")
    ]
    return shlex.split(found)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    root = folder / "firth-runs"
    for name, seed in (("minilm", 7), ("other", 8)):
        write_bundle(root / name / "bundle", tiny_recipe(True).model_copy(update={"name": "minilm"}), seed)
    (folder / "notes").mkdir()
    for number in range(12):
        words = [f"w{(number * place) % 40}" for place in range(1, 60)]
        (folder / "notes" / f"{number}.txt").write_text(" ".join([*words, "qux"]))
    return root


def run(root, *more):
    """Runs the command in the folder of the runs; returns its output, and the summary of the run."""
    options = [word for each in (*OPTIONS, *more) for word in ("--set", each)]
    with _in(root.parent):
        result = CliRunner().invoke(app, [*command()[1:], *options])
    assert result.exit_code == 0, result.output
    return result.output, json.loads((root / "minilm_continued" / "run.json").read_text())


@contextlib.contextmanager
def _in(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def first(root):
    return run(root)


def ended(said, state):
    """Returns the names of the components that the output lists in a state."""
    lines = [line.split() for line in said.splitlines()]
    return {words[1] for words in lines if words[:1] == [state]}


def test_the_model_goes_on_from_the_base_with_its_tokenizer(first, root):
    said, summary = first
    base, bundle = root / "minilm" / "bundle", pathlib.Path(summary["bundle"])
    assert f"went on from {base}; made fresh: the optimizer" in said and summary["base"] == str(base)
    assert load_tokenizer(bundle / "tokenizer").digest == load_tokenizer(base / "tokenizer").digest
    before, after = (weights_by_path(load_model(each)) for each in (base, bundle))
    assert before.keys() - after.keys() and not after.keys() - before.keys()
    # Three steps of 1e-3 lead no further. Rows of 16 reach no later position.
    moved = {name: float(abs(after[name] - before[name]).numpy().max()) for name in after}
    assert all(0 < most < 4e-3 for most in moved.values()), moved
    assert summary["pushed"] is not None


def test_lineage_names_the_base(first, root):
    store = metadata_store(metadata_of(root / "minilm_continued"))
    bundle = str(root / "minilm" / "bundle")
    (imported,) = store.get_artifacts_by_uri(bundle)
    assert imported.custom_properties["digest"].string_value == digest_of_bundle(bundle)
    events = store.get_events_by_artifact_ids([imported.id])
    read = [event.execution_id for event in events if event.type == metadata_store_pb2.Event.INPUT]
    readers = {execution.id: execution.type_id for execution in store.get_executions_by_id(read)}
    names = {store.get_execution_types_by_id([each])[0].name.rsplit(".", 1)[-1] for each in readers.values()}
    assert names == {"TokenizerGen", "Trainer"}


def test_a_second_run_is_cached(first, root):
    said, summary = run(root)
    assert summary["pushed"] == first[1]["pushed"]
    assert ended(said, "cached") >= {"TokenizerGen", "SequenceGen", "Trainer", "Pusher"}
    assert ended(first[0], "done") >= {BASE_IMPORTER, "TokenizerGen", "SequenceGen", "Trainer", "Pusher"}


def test_another_base_is_not_taken_from_the_cache(first, root):
    said, _ = run(root, "base.bundle=other")
    assert f"went on from {root}/other/bundle" in said
    assert "Trainer" in ended(said, "done") and "CorpusExampleGen" in ended(said, "cached")


def test_the_vocabulary_grows_by_words_that_are_named_and_by_those_of_the_text(first, root):
    _, summary = run(root, "base.added_words=[fox]", "base.added_count=2")
    bundle = pathlib.Path(summary["bundle"])
    pieces = load_tokenizer(bundle / "tokenizer").get_vocabulary()
    before = load_tokenizer(root / "minilm" / "bundle" / "tokenizer").get_vocabulary()
    # `qux` is in the text, and nothing else is unknown.
    assert pieces == [*before, "fox", "qux"]
    assert load_model(bundle).backbone.token_embedding.table.shape[0] == len(before) + 3
