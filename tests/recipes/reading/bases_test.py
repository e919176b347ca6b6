"""A recipe that starts from a bundle: the values that it takes, that may differ, and that are refused."""

import hashlib
import os
import shutil

import pytest

from firth.recipes import RecipeError, SpanMasking, load_recipe, recipe_to_yaml
from firth.recipes.reading.bases import base_notices
from firth.recipes.reading.loading import load_with_places
from firth.recipes.reading.requirements import missing
from firth.recipes.run.base import TRAINING
from tests.recipes import bundles

SOURCES = "sources=[{kind: text, paths: [a.txt]}]"
TINY = (
    "tokenizer.vocabulary_size=400",
    "sequences={length: 24, max_documents: 2}",
    "objective={max_predictions: 5, next_sentence: false}",
    "model={layers: 1, width: 32, dropout: 0.0, attention: {heads: 2}, positions: {length: 32}}",
    "training={steps: 7, batch_size: 4, earlier_stages: []}",
)


def write_bundle(folder, *overrides: str, weights: str = "weights") -> None:
    bundles.write_bundle(folder, *TINY, *overrides, weights=weights)


@pytest.fixture
def runs(tmp_path):
    write_bundle(tmp_path / "runs" / "minilm" / "bundle")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("a")
    return tmp_path / "runs"


def load(runs, *overrides: str, name=None):
    source = f"sources=[{{kind: text, paths: ['{runs.parent}/text/*.txt']}}]"
    return load_recipe(name, [source, *overrides], runs)


def refused(runs, *overrides: str, name=None) -> str:
    with pytest.raises(RecipeError) as caught:
        load(runs, *overrides, name=name)
    return str(caught.value)


def test_a_recipe_of_a_base_alone_takes_all_but_the_training(runs):
    base, recipe = load_recipe("bert_tiny", TINY), load(runs, "base=minilm")
    for key in ("tokenizer", "model", "sequences", "objective"):
        assert getattr(recipe, key) == getattr(base, key)
    assert recipe.name == "bert_tiny_continued"
    assert recipe.training.steps == TRAINING["steps"] != base.training.steps
    assert recipe.base.bundle == str(runs / "minilm" / "bundle")


def test_what_is_written_stands_on_its_own(runs, tmp_path):
    recipe = load(runs, "base=minilm")
    (tmp_path / "stored.yaml").write_text(recipe_to_yaml(recipe))
    shutil.rmtree(runs)
    assert load_recipe(tmp_path / "stored.yaml") == recipe


def test_a_preset_gives_way_and_its_training_stays(runs):
    recipe = load(runs, "base=minilm", name="bert_mini")
    assert recipe.model.width == 32 and recipe.sequences.length == 24
    assert not recipe.objective.next_sentence
    assert recipe.training == load_recipe("bert_mini").training and recipe.name == "bert_mini"


def test_a_file_says_what_may_differ(runs, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "extends: bert_mini\nbase: runs/minilm\nmodel: {dropout: 0.2, width: 32}\n"
        "sequences: {length: 16}\nobjective: {mask_rate: 0.3}\ntraining: {steps: 9}\n"
    )
    recipe = load(runs, name=path)
    assert (recipe.model.dropout, recipe.sequences.length, recipe.training.steps) == (0.2, 16, 9)
    # What it leaves out of a part is the base's, not the preset's.
    assert (recipe.objective.mask_rate, recipe.objective.next_sentence) == (0.3, False)
    assert recipe.sequences.max_documents == 2
    other = load(runs, "base=minilm", "objective.kind=span_masking")
    assert other.objective == SpanMasking()


@pytest.mark.parametrize(("said", "problem"), [
    ("model.width=64", "--set model.width=64: model.width: 64 is not what the base minilm has, 32"),
    ("tokenizer.vocabulary_size=500", "tokenizer.vocabulary_size: 500 is not what the base minilm has, 400"),
    ("model.share_layers={groups: 1}", "model.share_layers.groups: 1 is not what the base minilm has"),
    ("model.widht=64", "model.widht: unknown key; did you mean width?"),
    ("sequences.length=64", "sequences.length: 64 is above model.positions.length: 32"),
    ("objective.kind=causal_lm", "needs model.kind: causal_transformer, not masked_transformer, which "
        "objective.kind: masked_lm, "),
    ("tokenizer={kind: bpe}", "tokenizer.kind: 'bpe' is not what the base minilm has, 'wordpiece'"),
])  # fmt: skip
def test_what_contradicts_the_base_is_refused_with_both_values(runs, said, problem):
    assert problem in refused(runs, "base=minilm", said)
    assert problem in refused(runs, "base=minilm", said, name="bert_mini")


def test_a_vocabulary_is_extended_by_request(runs, tmp_path):
    recipe = load(runs, "base={bundle: minilm, added_words: [covid, remdesivir], added_count: 5}")
    assert recipe.tokenizer.vocabulary_size == 407 and recipe.base.added == 7
    path = tmp_path / "mine.yaml"
    path.write_text("base: runs/minilm\n")
    assert load(runs, "base.added_count=5", name=path).tokenizer.vocabulary_size == 405
    assert load(runs, "base.bundle=minilm").start_key != load(runs, *ADDED).start_key
    # The base of a recipe that is written out is replaced, and not taken with another's digest.
    write_bundle(runs / "other" / "bundle", weights="others")
    path.write_text(recipe_to_yaml(load(runs, "base=minilm")))
    assert load(runs, "base.bundle=other", name=path).base == load(runs, "base=other").base


@pytest.fixture
def stored(runs, tmp_path):
    path = tmp_path / "stored.yaml"
    path.write_text(recipe_to_yaml(load(runs, "base=minilm")))
    return path


def test_each_key_on_top_of_a_stored_base_is_checked(runs, stored):
    optimizer = refused(runs, "base.take_optimizer=true", name=stored)
    assert optimizer.startswith("--set base.take_optimizer=true: base.take_optimizer: ")
    assert "has weights only" in optimizer
    for said, size in (("added_words=[covid, remdesivir]", 402), ("added_count=5", 405)):
        grown = load(runs, f"base.{said}", name=stored)
        assert grown.tokenizer.vocabulary_size == size
        stored_again = stored.parent / "again.yaml"
        stored_again.write_text(recipe_to_yaml(grown))
        assert load(runs, "base.added_count=1", name=stored_again).tokenizer.vocabulary_size in (403, 401)
    assert "is named 'minlm'" in refused(runs, "base.bundle=minlm", name=stored)
    assert "base.updates: is written when the recipe is read" in refused(runs, "base.updates=5", name=stored)
    assert "base.digest: " in refused(runs, "base.digest=short", name=stored)


def test_a_stored_base_keeps_its_digest_where_only_other_keys_are_said(runs, stored):
    digest = load_recipe(stored).base.digest
    write_bundle(runs / "minilm" / "bundle", weights="others")
    assert load(runs, "base.added_count=1", name=stored).base.digest == digest
    assert load(runs, "base.bundle=minilm", name=stored).base.digest != digest


def test_a_file_on_top_of_a_stored_recipe_replaces_its_base(runs, stored):
    write_bundle(runs / "other" / "bundle", weights="others")
    (stored.parent / "mine.yaml").write_text("extends: stored.yaml\nbase: runs/other\n")
    assert load(runs, name=stored.parent / "mine.yaml").base == load(runs, "base=other").base


def test_updates_are_never_said(runs, stored):
    for said in (
        "base={bundle: minilm, updates: 5}",
        "base={bundle: minilm, take_optimizer: true, updates: 5}",
    ):
        assert "base.updates: is written when the recipe is read; leave it out" in refused(runs, said)
    stored.write_text(stored.read_text().replace("updates: 0", "updates: 5"))
    assert "updates: 5 without take_optimizer; leave the key out" in refused(runs, name=stored)


def test_another_bundle_does_not_keep_the_updates_of_the_one_before(runs, stored):
    write_bundle(runs / "mine" / "pipeline" / "Trainer" / "model" / "9" / "bundle")
    (runs / "mine" / "checkpoints").mkdir()
    stored.write_text(recipe_to_yaml(load(runs, "base.bundle=mine", "base.take_optimizer=true")))
    assert load_recipe(stored).base.updates == 7
    other = load(runs, "base.bundle=minilm", "base.take_optimizer=false", name=stored)
    assert (other.base.take_optimizer, other.base.updates) == (False, 0)
    assert load(runs, "base.take_optimizer=false", name=stored).base.updates == 0


def test_pooling_comes_along_unless_it_is_stated(runs, stored):
    write_bundle(runs / "sentences" / "bundle", "export.pooling=mean_with_special", "export.top_k=9")
    for name in (None, "bert_mini"):
        export = load(runs, "base=sentences", "export.warmup_requests=1", name=name).export
        assert (export.pooling, export.top_k, export.warmup_requests) == ("mean_with_special", 5, 1)
        assert load(runs, "base=sentences", "export.pooling=mean", name=name).export.pooling == "mean"
    pooled = refused(_with_pooler(runs), "base=pooled", "objective.next_sentence=false")
    assert "export.pooling: cls needs objective.next_sentence: true" in pooled


def _with_pooler(runs):
    write_bundle(runs / "pooled" / "bundle", "objective.next_sentence=true", "export.pooling=cls")
    return runs


def test_a_preset_says_nothing_of_the_model_that_it_does_not_make(runs):
    assert load_recipe("bert_mini").description
    assert load(runs, "base=minilm", name="bert_mini").description == ""
    assert load(runs, "base=minilm", "description=mine", name="bert_mini").description == "mine"


def test_a_presets_steps_and_rate_are_noticed(runs):
    def noticed(*options, name="bert_mini"):
        found = base_notices(*load_with_places(name, ["base=minilm", *options, SOURCES], runs))
        return [each.split(": ")[0] for each in found]

    rate = "training.optimizer.learning_rate"
    assert noticed() == ["training.steps", rate]
    assert noticed("training.steps=9") == [rate]
    assert noticed("training.steps=9", f"{rate}=1e-5") == noticed(name=None) == []
    assert base_notices(*load_with_places("bert_mini")) == []


def test_the_optimizer_of_a_run_is_taken_by_request(runs):
    asked = ("base.bundle=mine", "base.take_optimizer=true")
    write_bundle(runs / "mine" / "pipeline" / "Trainer" / "model" / "9" / "bundle")
    assert "has weights only: no run with checkpoints is around it" in refused(runs, *asked)
    (runs / "mine" / "checkpoints").mkdir()
    assert load(runs, *asked).base.updates == 7 and load(runs, "base=mine").base.updates == 0
    lamb = refused(runs, *asked, "training.optimizer={kind: lamb}")
    assert "base.take_optimizer: training.optimizer.kind: lamb has no use for the state of adamw" in lamb


ADDED = ("base.bundle=minilm", "base.added_words=[covid]")


@pytest.mark.parametrize(("tokenizer", "reason"), [
    ("{kind: wordpiece, vocabulary_size: 400, sentinels: 9}", "its sentinels are its last pieces"),
    ("{kind: bpe, vocabulary_size: 400}", "a word needs several merges"),
    ("{kind: sentencepiece, vocabulary_size: 400}", "each piece has a score"),
])  # fmt: skip
def test_a_vocabulary_that_cannot_be_extended_is_refused_with_the_reason(runs, tokenizer, reason):
    write_bundle(runs / "minilm" / "bundle", f"tokenizer={tokenizer}")
    problem = "--set base.bundle=minilm: base: the tokenizer of minilm takes no more pieces: "
    assert problem + reason in refused(runs, *ADDED)


def test_what_is_not_a_bundle_is_refused_with_what_is_missing(runs, monkeypatch):
    assert "is named 'minlm'; did you mean minilm?" in refused(runs, "base=minlm")
    assert "--set base=3: base: must be the name of a run or the path of a bundle" in refused(runs, "base=3")
    # A folder without a model is not a base, and `.` is a path, not the name of a run.
    monkeypatch.chdir(runs.parent)
    assert "is named 'text'; " in refused(runs, "base=text")
    assert f"{runs.parent} is not a model bundle" in refused(runs, "base=.")
    folder = runs / "minilm"
    assert f"there is no folder {folder}s; did you mean {folder}?" in refused(runs, f"base={folder}s")
    text = runs.parent / "text"
    lacking = (
        f"base: {text} is not a model bundle: it lacks recipe.yaml and weights.safetensors and tokenizer"
    )
    assert lacking in refused(runs, f"base={text}")
    for name, file, content in (
        ("tensorflow", "model.ckpt-7.index", ""),
        ("hf", "config.json", '{"model_type": ""}'),
    ):
        there = runs.parent / name
        there.mkdir()
        (there / file).write_text(content)
        command = f"`firth import {name} {there} --name NAME`"
        assert f"base: {there} is not a model bundle: {command}" in refused(runs, f"base={there}")
    (folder / "bundle" / "_SUCCESS").unlink()
    assert "lacks its marker, _SUCCESS: what wrote the bundle was cut short" in refused(runs, "base=minilm")


def test_a_recipe_of_another_version_is_refused(runs):
    path = runs / "minilm" / "bundle" / "recipe.yaml"
    path.write_text(path.read_text().replace("layers:", "blocks_of_old:"))
    said = refused(runs, "base=minilm")
    assert "holds no recipe of this version of firth" in said and "blocks_of_old: unknown key" in said


def test_the_newest_whole_model_of_a_run_is_taken(runs):
    trained = runs / "mine" / "pipeline" / "Trainer" / "model"
    for number in ("9", "11"):
        write_bundle(trained / number / "bundle")
    write_bundle(trained / "12" / "bundle")
    (trained / "12" / "bundle" / "_SUCCESS").unlink()
    assert load(runs, "base=mine").base.bundle == str(trained / "11" / "bundle")
    # The folder of a run may have been moved since.
    (runs / "mine" / "run.json").write_text('{"bundle": "/elsewhere/pipeline/Trainer/model/9/bundle"}')
    assert load(runs, "base=mine").base.bundle == str(trained / "9" / "bundle")
    for broken in (b"[3]", b"\xff", b"{"):
        (runs / "mine" / "run.json").write_bytes(broken)
        assert load(runs, "base=mine").base.bundle == str(trained / "11" / "bundle")
    assert "has no trained model yet" in refused(_begun(runs), "base=begun")


def _begun(runs):
    os.makedirs(runs / "begun" / "pipeline")
    return runs


def test_the_digest_is_that_of_the_content(runs, tmp_path):
    first = load(runs, "base=minilm")
    shutil.copytree(runs / "minilm", tmp_path / "copy")
    copied = load(runs, f"base={tmp_path}/copy/bundle")
    assert copied.base.digest == first.base.digest and copied.start_key == first.start_key
    write_bundle(tmp_path / "copy" / "bundle", weights="others")
    assert load(runs, f"base={tmp_path}/copy").base.digest != first.base.digest
    with open(tmp_path / "copy" / "bundle" / "weights.safetensors", "rb") as file:
        assert hashlib.sha256(file.read()).hexdigest() != first.base.digest


def test_a_stored_recipe_notices_another_bundle_in_the_place(runs, tmp_path):
    (tmp_path / "stored.yaml").write_text(recipe_to_yaml(load(runs, "base=minilm")))
    assert missing(*load_with_places(tmp_path / "stored.yaml")) == []
    write_bundle(runs / "minilm" / "bundle", weights="others")
    (problem,) = missing(*load_with_places(tmp_path / "stored.yaml"))
    assert "base.digest: " in problem and "another bundle than the recipe was read with" in problem
    shutil.rmtree(runs / "minilm")
    (problem,) = missing(*load_with_places(tmp_path / "stored.yaml"))
    assert "base.bundle: there is no folder" in problem
