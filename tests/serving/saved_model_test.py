import dataclasses
import json
import os

import numpy as np
import pytest
import tensorflow as tf

from firth.serving.saved_model import export, save_signatures
from firth.serving.signature import Output, Signature
from firth.serving.warmup import TEXTS, read_warmup
from tests.exported_model import RECIPE, UNIGRAM_COUNTS, VOCABULARY, exported_model, loaded_model


class WithoutDigest:
    """A tokenizer that lacks what is written last."""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer

    def __getattr__(self, name):
        if name == "digest":
            raise AttributeError(name)
        return getattr(self._tokenizer, name)


def test_signatures_answer_what_the_functions_do():
    loaded = loaded_model()
    outputs = loaded.signatures["fill_mask"](text=tf.constant(["the [MASK] sat on the [MASK]", "z"]))
    assert outputs["mask_count"].numpy().tolist() == [2, 0]
    assert outputs["mask_positions"].numpy().tolist() == [[1, 5], [0, 0]]
    assert outputs["pieces"].shape == (2, 2, 3)
    default = loaded.signatures["serving_default"](text=tf.constant(["[MASK]"]))
    assert set(default) == set(outputs)


def test_description_names_what_the_model_was_made_of():
    exported = exported_model()
    with open(os.path.join(exported.directory, "assets.extra", "firth.json"), encoding="utf-8") as file:
        description = json.load(file)
    assert type(RECIPE).from_json(json.dumps(description["recipe"])) == RECIPE
    assert description["tokenizer_digest"] == exported.served.tokenizer.digest
    assert description["versions"]["tensorflow"] == tf.__version__


def test_warmup_requests_run():
    loaded = loaded_model()
    requests = list(read_warmup(exported_model().directory))
    assert [request.signature for request in requests] == [
        "fill_mask",
        "embed",
        "embed_tokens",
        "evaluate",
    ] * 2
    assert requests[4].inputs == {"text": [text.encode() for text in TEXTS[:2]]}
    for request in requests:
        inputs = {name: tf.constant(values, tf.string) for name, values in request.inputs.items()}
        outputs = loaded.signatures[request.signature](**inputs)
        assert {len(output) for output in outputs.values()} == {len(next(iter(inputs.values())))}
    weights = outputs["mlm_weight_sum"].numpy()
    assert (weights > 0).all()


def test_a_signature_is_traced_once(tmp_path, monkeypatch):
    """For its description and for what is saved: tracing is what an export spends its time on."""
    traced = []

    def ask(served, text):
        traced.append(text)
        return {"bytes": tf.strings.length(text)}

    asked = {"ask": Signature(ask, {"bytes": Output("bytes of the text", "int32", ("batch",))})}
    served = exported_model().served
    monkeypatch.setattr("firth.serving.saved_model.text_signatures", lambda *_: asked)
    recipe = RECIPE.model_copy(update={"export": RECIPE.export.model_copy(update={"warmup_requests": 0})})
    export(served.model, served.tokenizer, recipe, None, str(tmp_path / "model"))
    assert len(traced) == 1
    save_signatures(dataclasses.replace(served, recipe=recipe), asked, [], str(tmp_path / "asked"), {})
    assert len(traced) == 2
    for name in ("model", "asked"):
        answers = tf.saved_model.load(str(tmp_path / name)).signatures
        assert answers["ask"](text=tf.constant(["a", "the"]))["bytes"].numpy().tolist() == [1, 3]
        assert set(answers) == {"ask", "serving_default"}


def test_a_directory_in_use_is_refused(tmp_path):
    served = exported_model().served
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=str(tmp_path)):
        export(served.model, served.tokenizer, RECIPE, UNIGRAM_COUNTS, str(tmp_path))
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_failed_export_leaves_nothing(tmp_path):
    served = exported_model().served
    with pytest.raises(AttributeError, match="digest"):
        tokenizer = WithoutDigest(served.tokenizer)
        export(served.model, tokenizer, RECIPE, UNIGRAM_COUNTS, str(tmp_path / "model"))
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_together_is_refused(tmp_path):
    served = exported_model().served
    directory = str(tmp_path / "model")
    small = RECIPE.model_copy(
        update={"tokenizer": RECIPE.tokenizer.model_copy(update={"vocabulary_size": 20})}
    )
    with pytest.raises(ValueError, match=rf"{len(VOCABULARY)} pieces.*20 rows"):
        export(served.model, served.tokenizer, small, UNIGRAM_COUNTS, directory)
    with pytest.raises(ValueError, match="unigram counts"):
        export(served.model, served.tokenizer, RECIPE, np.ones(3, np.int64), directory)
    with pytest.raises(ValueError, match="unigram counts"):
        export(served.model, served.tokenizer, RECIPE, np.ones(40, np.int64), directory)
    parts = RECIPE.model_dump() | {
        "objective": {"kind": "masked_lm", "next_sentence": False},
        "export": {"pooling": "cls"},
    }
    with pytest.raises(ValueError, match=r"cls needs objective\.next_sentence"):
        type(RECIPE)(**parts)
