"""Models are opened from each place that users keep them in, and adapted."""

import os

import keras_hub
import numpy as np
import pytest

import firth
from firth import storage
from firth.language_model import LanguageModel
from tests.exported_model import RECIPE, make_served
from tests.generation.cases import eagerly
from tests.interop.ctranslate2 import exporting_test
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.interop.keras_hub import tiny
from tests.models.elmo_files import write_random_files

RECORDS = [{"text": text, "label": label} for text, label in (("the cat", "yes"), ("a mat", "no"))] * 4


def bundle_in_a_bucket(folder):
    served = make_served(RECIPE)
    place = f"ram://models/{os.getpid()}/run"
    LanguageModel(served.recipe, served.tokenizer, served.model).save(f"{place}/bundle")
    return place


def preset_of_keras_hub(folder):
    tiny.backbone("bert").save_to_preset(str(folder))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", "cat", "mat"]
    keras_hub.tokenizers.BertTokenizer(pieces, lowercase=True).save_to_preset(str(folder))
    return folder


def files_of_elmo(folder):
    write_random_files(folder)
    return folder


@pytest.mark.parametrize("make", [checkpoint, preset_of_keras_hub, files_of_elmo])
def test_a_model_is_opened_wherever_it_is_kept(make, tmp_path):
    model = firth.load(make(tmp_path))
    with eagerly():
        assert model.embed(["the cat", "a mat"]).shape == (2, model.recipe.model.width)


@pytest.mark.parametrize(
    "make",
    [
        bundle_in_a_bucket,
        *(
            pytest.param(each, marks=pytest.mark.repeated)
            for each in (checkpoint, preset_of_keras_hub, files_of_elmo)
        ),
    ],
)
def test_a_model_is_adapted_wherever_it_is_kept(make, tmp_path):
    model = firth.load(make(tmp_path))
    # The records are in a bucket too, which has no folders to be below.
    path = f"ram://models/{os.getpid()}/train.csv"
    storage.write_text(path, "text,label\n" + "".join(f"{','.join(each.values())}\n" for each in RECORDS))
    short = {"sequences.length": 8}
    with eagerly():
        assert model.embed(["the cat", "a mat"]).shape == (2, model.recipe.model.width)
        sorter = model.finetune(path, eval=RECORDS, method="head", epochs=1, overrides=short, verbose=False)
        assert sorter.predict("the cat")["label"] in ("yes", "no")


def test_another_engine_answers_as_keras_does(tmp_path):
    pytest.importorskip("ctranslate2")
    answers = {}
    for name, ask in (
        ("bert", lambda model: model.embed(["the cat", "a mat"])),
        ("gpt2", lambda model: model.generate("a b", max_new_tokens=3)),
    ):
        bundle = f"{exporting_test.exported(name)[1].name}/bundle"
        with eagerly():
            answers[name] = [
                ask(firth.load(bundle, **options))
                for options in ({}, {"engine": "ctranslate2", "cache": tmp_path / "cache"})
            ]
    np.testing.assert_allclose(*answers["bert"], atol=1e-4)
    assert answers["gpt2"][0] == answers["gpt2"][1]
    with pytest.raises(ValueError, match="did you mean ctranslate2"):
        firth.load(bundle, engine="ctranslate")
    with pytest.raises(ValueError, match=r"model\.save"):
        firth.load(checkpoint(tmp_path), engine="ctranslate2")
    with pytest.raises(ValueError, match="quantization"):
        firth.load(bundle, quantization="int8")
