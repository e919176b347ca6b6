"""A run that goes on from a bundle, from text to a served model: tokenizer, weights, lineage and cache."""

import pytest
from ml_metadata.proto import metadata_store_pb2

from firth.models import load_model
from firth.models.bundle import weights_by_path
from firth.pipelines import local, results
from firth.pipelines.lineage import metadata_store
from firth.pipelines.pretrain import BASE_IMPORTER
from firth.recipes import load_recipe
from firth.tokenizers import load_tokenizer
from tests.training.artifacts import write_bundle

OPTIONS = (
    "base=minilm",
    "name=continued",
    "cleaning={steps: [], split: {eval_fraction: 0.3}}",
    "objective.next_sentence=false",
    "sequences.shards=2",
    "training={steps: 3, batch_size: 4, optimizer: {learning_rate: 1e-3, warmup_steps: 0}}",
    "evaluation.thresholds=[]",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    write_bundle(root / "minilm" / "bundle")
    write_bundle(root / "other" / "bundle", seed=8)
    (root / "text").mkdir()
    for number in range(12):
        words = [f"w{(number * place) % 40}" for place in range(1, 60)]
        (root / "text" / f"{number}.txt").write_text(" ".join(words))
    return root


def recipe_on(root, *more):
    source = f"sources=[{{kind: text, paths: ['{root}/text/*.txt']}}]"
    return load_recipe(None, [source, *OPTIONS, *more], root)


@pytest.fixture(scope="module")
def first(root):
    return local.run(recipe_on(root), root)


def states(result):
    return {component.name: component.state for component in result.components}


def test_the_model_goes_on_from_the_base_with_its_tokenizer(first, root):
    base, bundle = root / "minilm" / "bundle", first.bundle
    assert load_tokenizer(bundle / "tokenizer").digest == load_tokenizer(base / "tokenizer").digest
    before, after = (weights_by_path(load_model(each)) for each in (base, bundle))
    assert before.keys() - after.keys() and not after.keys() - before.keys()
    # Three steps of 1e-3 lead no further.
    assert all(0 < abs(after[name] - before[name]).numpy().max() < 4e-3 for name in after), "a weight stayed"
    assert first.pushed is not None


def test_lineage_names_the_base(first, root):
    store = metadata_store(first.run_dir / results.METADATA_FILE)
    (imported,) = store.get_artifacts_by_uri(str(root / "minilm" / "bundle"))
    assert imported.custom_properties["digest"].string_value == recipe_on(root).base.digest
    events = store.get_events_by_artifact_ids([imported.id])
    read = [event.execution_id for event in events if event.type == metadata_store_pb2.Event.INPUT]
    readers = {execution.id: execution.type_id for execution in store.get_executions_by_id(read)}
    names = {store.get_execution_types_by_id([each])[0].name.rsplit(".", 1)[-1] for each in readers.values()}
    assert names == {"TokenizerGen", "Trainer"}


def test_a_second_run_is_cached(first, root):
    again = states(local.run(recipe_on(root), root))
    assert {again[name] for name in ("TokenizerGen", "SequenceGen", "Trainer", "Pusher")} == {"cached"}
    assert BASE_IMPORTER in again


@pytest.mark.repeated
def test_another_base_is_not_taken_from_the_cache(first, root):
    other = local.run(recipe_on(root, "base=other"), root)
    assert states(other)["Trainer"] == "finished" and states(other)["CorpusExampleGen"] == "cached"
