"""A RoBERTa with its own tokenizer becomes a bundle that is loaded, served and asked with its own mask."""

import json

import numpy as np
import tensorflow as tf
from safetensors.numpy import save_file

from firth.interop.hugging_face import import_model
from firth.models.bundle import read_recipe
from firth.serving import load_served
from firth.serving.signatures import text_signatures
from tests.interop.hugging_face.tokenizers import trained
from tests.models import references

# One row of the token table more than there are pieces, as padding to a round number has.
_SPARE = 1


def checkpoint(folder) -> str:
    """RoBERTa's golden file with a table of tokens for a byte-level vocabulary."""
    tokenizer = trained.roberta()
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = tokenizer.get_vocab_size() + _SPARE
    golden = references.read_golden("roberta")
    tensors = {key.removeprefix("weight/"): value for key, value in golden.items() if "weight/" in key}
    table, bias = "roberta.embeddings.word_embeddings.weight", "lm_head.bias"
    tensors[table] = np.random.default_rng(0).normal(size=(rows, tensors[table].shape[1])).astype(np.float32)
    tensors[bias] = np.zeros(rows, np.float32)
    save_file(
        {key: np.ascontiguousarray(value) for key, value in tensors.items()}, folder / "model.safetensors"
    )
    config = {**references.made_with("roberta")["config"], "model_type": "roberta", "vocab_size": rows}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def test_a_text_is_read_and_its_mask_filled(tmp_path):
    import_model(checkpoint(tmp_path), tmp_path / "bundle", "tiny")
    served, theirs = load_served(tmp_path / "bundle"), trained.roberta()
    text = "The fox <mask>"
    encoded = served.encode(tf.constant([text]))
    assert encoded.features["token_ids"].numpy().tolist() == trained.ids_of(
        theirs, [text], framed=True, splits=True
    )
    signature = text_signatures(read_recipe(tmp_path / "bundle"), served.tokenizer.mask_token)["fill_mask"]
    assert signature.needs == "<mask>"
    answer = signature.function(served, tf.constant([text]))
    assert answer["mask_count"].numpy().tolist() == [1]
    assert not {piece.decode() for piece in answer["pieces"].numpy()[0, 0]} & set(trained.ROBERTA)
