"""Runs of one pipeline, each of which starts from the model that the last one has blessed."""

import numpy as np
import pytest

from firth import storage
from firth.models import load_model
from firth.models.bundle import weights_by_path
from firth.pipelines import local, pretrain
from firth.pipelines.trained_model import WARM_START
from firth.recipes import RecipeError, load_recipe
from tests.recipes.bundles import write_bundle

OPTIONS = (
    "warm_start=true",
    "cleaning={steps: [], split: {eval_fraction: 0.3}}",
    "tokenizer.vocabulary_size=120",
    "objective.max_predictions=2",
    "sequences={length: 16, shards: 2}",
    "model={layers: 1, width: 16, attention: {heads: 2}, positions: {length: 16}}",
    "evaluation.thresholds=[]",
)
# It moves no weight further than this in all.
SMALL = "training={steps: 2, batch_size: 4, optimizer: {learning_rate: 1e-4, warmup_steps: 0}}"


def recipe(folder, *more):
    sources = f"sources=[{{kind: text, paths: ['{folder}/*.txt']}}]"
    return load_recipe("demo", [*OPTIONS, sources, SMALL, *more])


def write_texts(folder, numbers):
    for number in numbers:
        words = [f"w{(number * place) % 40}" for place in range(1, 60)]
        (folder / f"{number}.txt").write_text(" ".join(words))


def nodes(recipe, **settings):
    return {each.id: each for each in pretrain.create_pipeline(recipe, "/no/such", **settings).components}


def test_the_tokenizer_and_the_training_take_what_the_resolver_finds(tmp_path):
    write_texts(tmp_path, [1])
    made = nodes(recipe(tmp_path))

    assert made["TokenizerGen"].inputs["base"].producer_component_id == WARM_START
    assert made["Trainer"].inputs["base_model"].producer_component_id == WARM_START
    assert WARM_START not in nodes(recipe(tmp_path, "warm_start=false"))


def test_an_orchestrator_without_resolvers_is_refused(tmp_path):
    write_texts(tmp_path, [1])
    with pytest.raises(ValueError, match=r"warm_start: .*orchestrator"):
        nodes(recipe(tmp_path), has_baseline=False)


def test_a_base_and_a_warm_start_are_refused(tmp_path):
    write_bundle(tmp_path / "base")
    with pytest.raises(RecipeError, match=r"warm_start: .*base"):
        load_recipe("demo", [f"base={tmp_path}/base", "warm_start=true"])


@pytest.mark.repeated
def test_the_next_run_starts_from_the_blessed_model(tmp_path):
    write_texts(tmp_path, range(12))
    first = local.run(recipe(tmp_path), tmp_path / "runs")
    assert first.blessed and first.start is None
    write_texts(tmp_path, range(12, 20))
    second = local.run(recipe(tmp_path), tmp_path / "runs", local.RunOptions(reuse_folder=True))
    assert second.start is not None and second.start["bundle"] == str(first.bundle)
    assert second.start["fresh_layers"] == [] and second.bundle != first.bundle
    digests = [
        storage.read_json(each / "tokenizer" / "tokenizer.json") for each in (first.bundle, second.bundle)
    ]
    assert digests[0] == digests[1] is not None
    before, after = (weights_by_path(load_model(each.bundle)) for each in (first, second))
    moved = [np.abs(before[name].numpy() - after[name].numpy()).max() for name in before]
    assert set(before) == set(after) and 0 < max(moved) < 1e-3
