"""Exports imported ELMo weights: a Keras model, a SavedModel for words, a recipe's model."""

import os
from typing import Any

import tensorflow as tf
import yaml

from firth import features, storage
from firth.models.bilstm import BiLSTMBackbone
from firth.models.elmo_import import ElmoFileError, load_elmo, read_options
from firth.tokenizers.graph.word_characters import sentence_characters, word_characters

__all__ = ["ElmoFileError", "embed_words", "export_elmo"]

BACKBONE_FILE = "backbone.keras"
SERVING_FOLDER = "serving"
MODEL_FILE = "model.yaml"


def export_elmo(
    options: str | os.PathLike[str], weights: str | os.PathLike[str], directory: str | os.PathLike[str]
) -> dict[str, str]:
    """Writes the contents of published ELMo files in this library's own formats.

    Args:
        options: Path of the options, a JSON file; see `firth.models.load_elmo`.
        weights: Path of the weights, an HDF5 file.
        directory: Folder that must not exist yet; it appears whole or not at all.

    Returns:
        A sentence on the use of each path that was written.

    Raises:
        ElmoFileError, OSError: as `load_elmo` does.
        FileExistsError: if the directory already exists.
    """
    directory = os.fspath(directory)
    backbone = load_elmo(options, weights)
    shape = read_options(options)
    with storage.whole_folder(directory) as folder:
        backbone.save(os.path.join(folder, BACKBONE_FILE))
        _save_graph(backbone, shape["characters"]["max_characters"], os.path.join(folder, SERVING_FOLDER))
        model = {"kind": "bilstm", **shape, "characters": _plain(shape["characters"])}
        recipe = yaml.safe_dump({"model": model}, sort_keys=False)
        storage.write_text(os.path.join(folder, MODEL_FILE), recipe)
    uses = {
        BACKBONE_FILE: "keras.models.load_model gives a BiLSTMBackbone; import firth.models first",
        SERVING_FOLDER: (
            "SavedModel: words (string [batch, words], '' after a sentence) to "
            "layers (float32 [batch, words, layers + 1, width])"
        ),
        MODEL_FILE: "the `model` of a recipe that trains a model of this shape",
    }
    return {os.path.join(directory, name): use for name, use in uses.items()}


def _plain(characters: dict[str, Any]) -> dict[str, Any]:
    return {**characters, "filters": [list(pair) for pair in characters["filters"]]}


def embed_words(backbone: BiLSTMBackbone, words: tf.Tensor, max_characters: int) -> dict[str, tf.Tensor]:
    """Returns the vectors of words in their sentences.

    Args:
        backbone: Model that `load_elmo` returns.
        words: Words, string [batch, words], the empty string after a sentence's last word.
        max_characters: Characters of a word, marks included.

    Returns:
        layers: float32 [batch, words, layers + 1, width], zeros after a sentence.
        word_count: int32 [batch].
    """
    batch, length = tf.unstack(tf.shape(words))
    counts = tf.reduce_sum(tf.cast(words != "", tf.int32), axis=1)
    marks = sentence_characters(max_characters)
    characters = word_characters(tf.reshape(words, [-1]), max_characters)
    characters = tf.reshape(characters, [batch, length, max_characters])
    begin, end = (tf.broadcast_to(mark, [batch, 1, max_characters]) for mark in marks)
    # The end mark stands after each sentence's own last word.
    places = tf.range(length + 1)[tf.newaxis, :, tf.newaxis]
    ends = counts[:, tf.newaxis, tf.newaxis]
    behind = tf.where(places == ends, end, tf.concat([characters, begin], axis=1))
    real = tf.range(length + 2)[tf.newaxis] < counts[:, tf.newaxis] + 2
    rows = {
        features.CHARACTERS: tf.concat([begin, behind], axis=1),
        features.DOCUMENT_IDS: tf.cast(real, tf.int32),
    }
    layers = tf.transpose(backbone.layer_outputs(rows, training=False), [0, 2, 1, 3])[:, 1:-1]
    own = tf.sequence_mask(counts, length, tf.float32)[:, :, tf.newaxis, tf.newaxis]
    return {"layers": tf.cast(layers, tf.float32) * own, "word_count": counts}


def _save_graph(backbone: BiLSTMBackbone, max_characters: int, directory: str) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.string, name="words")], autograph=False)
    def embed(words: tf.Tensor) -> dict[str, tf.Tensor]:
        return embed_words(backbone, words, max_characters)

    module = tf.Module()
    module.model_variables = [variable.value for variable in backbone.variables]
    signatures = {"embed_words": embed, tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: embed}
    tf.saved_model.save(module, directory, signatures=signatures)
