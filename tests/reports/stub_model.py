"""A SavedModel with the signatures of an exported one that answers always the same."""

import json
import pathlib

import tensorflow as tf

from firth.recipes import load_recipe


class _Stub(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def fill_mask(self, text):
        batch = tf.shape(text)[0]
        counts = tf.strings.length(text) - tf.strings.length(tf.strings.regex_replace(text, r"\[MASK\]", ""))
        masks = tf.maximum(tf.reduce_max(counts) // 6, 1)
        return {
            "pieces": tf.tile(tf.constant([[["cat", "dog"]]]), [batch, masks, 1]),
            "scores": tf.tile(tf.constant([[[0.75, 0.25]]]), [batch, masks, 1]),
            "mask_count": counts // 6,
        }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def embed(self, text):
        lengths = tf.cast(tf.strings.length(text), tf.float32)
        return {"embedding": tf.stack([lengths, -lengths], axis=1)}


class _LanguageModelStub(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def score(self, text):
        pieces = tf.strings.split(text)
        count = tf.cast(pieces.row_lengths(), tf.int32)
        logs = pieces.with_flat_values(-tf.cast(tf.strings.length(pieces.flat_values), tf.float32))
        return {
            "pieces": pieces.to_tensor(""),
            "log_probabilities": logs.to_tensor(0.0),
            "log_probability": tf.reduce_sum(logs, 1),
            "token_count": count,
        }


def save_stub_model(directory):
    stub = _Stub()
    tf.saved_model.save(stub, str(directory), {"fill_mask": stub.fill_mask, "embed": stub.embed})
    _describe(directory, "bert_tiny", "fill_mask", "embed")


def save_stub_language_model(directory):
    """Gives each word the probability exp(-its length)."""
    stub = _LanguageModelStub()
    tf.saved_model.save(stub, str(directory), {"score": stub.score})
    _describe(directory, "gpt2_tiny", "score")


def _describe(directory, preset, *names):
    """Writes what a model of a preset says about its signatures."""
    from firth.serving.signatures import text_signatures

    offered = text_signatures(load_recipe(preset))
    signatures = {name: offered[name].describe() for name in names}
    description = {"signatures": signatures, "other_signatures": {}, "evaluation_sums": []}
    folder = pathlib.Path(directory, "assets.extra")
    folder.mkdir()
    (folder / "firth.json").write_text(json.dumps(description))
