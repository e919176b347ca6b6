import pathlib
import shutil
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401 (registers the ops of the exported graph)

from firth import storage
from firth.corpus.decontamination.evidence import FOLDER, CorpusEvidence, read_evidence, write_evidence
from firth.models import load_model
from firth.models.bundle import read_recipe, weights_by_path
from firth.recipes.reading.bundles import NoBundleError, digest_of_bundle
from firth.recipes.run.base import Base
from firth.tokenizers import TokenizerMismatchError, load_tokenizer
from firth.training import RowsError, read_history
from firth.training.run_fn import corpora_of, run_fn, with_base
from tests.corpus.decontamination.made_evidence import found_ngrams
from tests.exported_model import first_signature_alone
from tests.training.artifacts import tiny_recipe, write_artifact, write_bundle


def arguments(directory, train_files, **config):
    """Arguments that the TFX Trainer passes."""
    custom_config = {
        "recipe": tiny_recipe(steps=3).to_json(),
        "checkpoint_root": str(directory / "checkpoints"),
    }
    return SimpleNamespace(
        train_files=train_files,
        eval_files=[],
        serving_model_dir=str(directory / "model" / "Format-Serving"),
        model_run_dir=str(directory / "model_run"),
        custom_config={**custom_config, **config},
    )


@pytest.mark.usefixtures("eager")
def test_rows_become_a_served_model_and_a_curve(tmp_path):
    """Without a checkpoint root, the run's directory serves as one."""
    args = arguments(tmp_path, write_artifact(tmp_path / "artifact"), checkpoint_root="")
    found_ngrams(["w1 w2 w3"], ["w1 w2 w3"]).save(tmp_path / "artifact" / FOLDER)
    # A Trainer that was killed and is started again finds its folders.
    (tmp_path / "model" / "bundle").mkdir(parents=True)
    (tmp_path / "model" / "bundle" / "_SUCCESS").touch()
    with first_signature_alone():
        run_fn(args)
    assert [line["step"] for line in read_history(args.model_run_dir)] == [1, 2, 3]
    assert any(path.name.startswith("events.out.tfevents") for path in (tmp_path / "model_run").iterdir())
    assert (tmp_path / "model_run" / "checkpoints" / "rows").is_dir()
    served = tf.saved_model.load(args.serving_model_dir)
    assert {"fill_mask", "evaluate"} <= set(served.signatures)
    loaded = load_model(tmp_path / "model" / "bundle")
    trained = {variable.shape: variable for variable in served.model_variables}
    table = loaded.backbone.token_embedding.table
    np.testing.assert_array_equal(table, trained[tuple(table.shape)])
    load_tokenizer(tmp_path / "model" / "bundle" / "tokenizer")
    (corpus,) = read_evidence(tmp_path / "model" / "bundle")
    assert corpus.model == "tiny" and corpus.load()[0].look_up(["w1 w2 w3"]).found.all()


@pytest.mark.usefixtures("eager")
def test_a_warm_start_takes_the_weights_of_the_model_that_the_trainer_is_given(tmp_path):
    files = write_artifact(tmp_path / "artifact")
    earlier = tmp_path / "earlier"
    bundle = write_bundle(earlier / "bundle")
    warm = tiny_recipe(steps=1).model_copy(update={"warm_start": True})
    args = arguments(tmp_path, files, recipe=warm.to_json())
    args.base_model = str(earlier / "Format-Serving")
    with mock.patch("firth.serving.export"):
        run_fn(args)
    made = tmp_path / "model" / "bundle"
    start = storage.read_json(tmp_path / "model_run" / "start.json")
    assert start["bundle"] == bundle and start["fresh_layers"] == []
    assert read_recipe(made).base == Base(bundle=bundle, digest=digest_of_bundle(bundle))
    before, after = (weights_by_path(load_model(each)) for each in (bundle, made))
    moved = [float(abs(after[name] - before[name]).numpy().max()) for name in after]
    # One step of this learning rate, from these weights and not from others.
    assert set(before) == set(after) and 0 < max(moved) < 0.02
    # A recipe that asks for none is not changed.
    cold = tiny_recipe(steps=1)
    assert with_base(cold, args.base_model) == cold


def test_a_warm_start_without_a_blessed_model_says_so(caplog):
    warm = tiny_recipe(steps=1).model_copy(update={"warm_start": True})
    with caplog.at_level("INFO"):
        assert with_base(warm, None) == warm
    assert "no model of this pipeline is blessed yet; weights are drawn by the seed" in caplog.text


def test_a_warm_start_from_a_model_that_is_gone_is_refused(tmp_path):
    warm = tiny_recipe(steps=1).model_copy(update={"warm_start": True})
    bundle = pathlib.Path(write_bundle(tmp_path / "earlier" / "bundle"))
    serving = str(tmp_path / "earlier" / "Format-Serving")
    assert with_base(warm, serving).base.bundle == str(bundle)
    (bundle / storage.MARKER).unlink()
    with pytest.raises(NoBundleError, match=f"warm_start: .*{bundle}"):
        with_base(warm, serving)
    shutil.rmtree(tmp_path / "earlier")
    with pytest.raises(NoBundleError, match=r"earlier.*`warm_start`"):
        with_base(warm, serving)


def test_a_model_carries_what_its_base_carries_and_what_its_own_corpus_holds(tmp_path):
    bundle = write_bundle(tmp_path / "bundle")
    found_ngrams(["w1 w2 w3"], ["w1 w2 w3"]).save(tmp_path / "rows" / FOLDER)
    tokenizer = str(tmp_path / "rows" / "tokenizer")

    def corpora(base):
        recipe = tiny_recipe().model_copy(update={"name": "mine", "base": base})
        return [(each.model, len(each.files)) for each in corpora_of(recipe, tokenizer)]

    imported = Base(bundle=bundle, digest=digest_of_bundle(bundle))
    assert corpora(None) == [("mine", 1)] and corpora(imported) == [("tiny", 0), ("mine", 1)]
    write_evidence(bundle, [CorpusEvidence("minilm", ()), *corpora_of(tiny_recipe(), tokenizer)])
    assert corpora(imported) == [("minilm", 0), ("tiny", 1), ("mine", 1)]


def test_bad_input_is_refused_clearly(tmp_path):
    files = write_artifact(tmp_path / "artifact")
    args = arguments(tmp_path, files)
    del args.custom_config["recipe"]
    with pytest.raises(ValueError, match=r"custom_config .*recipe.*checkpoint_root"):
        run_fn(args)
    with pytest.raises(ValueError, match="train_files"):
        run_fn(arguments(tmp_path, []))
    with pytest.raises(ValueError, match="nowhere/tokenizer"):
        run_fn(arguments(tmp_path, [str(tmp_path / "nowhere" / "Split-train" / "*")]))
    with pytest.raises(RowsError, match="no file matches"):
        run_fn(arguments(tmp_path, [str(tmp_path / "artifact" / "Split-other" / "*")]))


def test_foreign_tokenizer_is_refused(tmp_path):
    files = write_artifact(tmp_path / "artifact")
    recipe = tiny_recipe(steps=3)
    small = recipe.tokenizer.model_copy(update={"vocabulary_size": 20})
    with pytest.raises(RowsError, match=r"45 .*tokenizer.vocabulary_size .*20"):
        run_fn(arguments(tmp_path, files, recipe=recipe.model_copy(update={"tokenizer": small}).to_json()))
    with open(tmp_path / "artifact" / "tokenizer" / "vocab.txt", "a", encoding="utf-8") as file:
        file.write("another\n")
    with pytest.raises(TokenizerMismatchError):
        run_fn(arguments(tmp_path, files))
