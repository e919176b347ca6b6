"""Small artifacts of SequenceGen, whose tokens count upwards from some small number."""

import os

import numpy as np
import tensorflow as tf

from firth import features
from firth.models import build_model, save_model
from firth.recipes.corpus.sources import TextSource
from firth.recipes.models.blocks import AttentionConfig
from firth.recipes.models.positions import LearnedPositionsConfig
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.run.recipe import Recipe
from firth.recipes.tasks.classification import Regression
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from firth.recipes.training.training import AdamWConfig, Training
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from firth.training.rows import RowLimits

PIECES = 40
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{index}" for index in range(PIECES))]
LENGTH, DOCUMENTS = 24, 2
LIMITS = RowLimits(
    features.row_specs(LENGTH - 3, DOCUMENTS), special_tokens=3, vocabulary_size=len(VOCABULARY)
)
# Records of two texts, at most three in a row.
PAIRS = RowLimits.of(Regression(pair=True), Sequences(length=LENGTH, max_documents=3), len(VOCABULARY), 0)


def tiny_recipe(next_sentence: bool = False, **training) -> Recipe:
    """L1 H16 on rows of 24 tokens; of one loss, or of two, which takes half as long again."""
    optimizer = AdamWConfig(learning_rate=training.pop("learning_rate", 1e-2), warmup_steps=2)
    settings = {"steps": 12, "batch_size": 4, "checkpoint_every_steps": 4, "log_every_steps": 1, **training}
    return Recipe(
        name="tiny",
        sources=(TextSource(kind="text", paths=("none.txt",)),),
        tokenizer=WordPieceTokenizerConfig(vocabulary_size=len(VOCABULARY)),
        sequences=Sequences(length=LENGTH, max_documents=DOCUMENTS),
        objective=MaskedLM(max_predictions=5, next_sentence=next_sentence),
        model=MaskedTransformerConfig(
            layers=1,
            width=16,
            attention=AttentionConfig(heads=2),
            positions=LearnedPositionsConfig(length=LENGTH),
        ),
        training=Training(optimizer=optimizer, **settings),
    )


def write_bundle(folder, recipe: Recipe | None = None, seed: int = 7, tokenizer=None) -> str:
    """Writes a bundle of a tiny model that is not trained, and its tokenizer; returns the bundle's path."""
    recipe = recipe or tiny_recipe()
    save_tokenizer(tokenizer or WordPieceTokenizer(VOCABULARY), f"{folder}-tokenizer")
    model = build_model(recipe.model_copy(update={"seed": seed}))
    save_model(model, recipe, f"{folder}-tokenizer", folder)
    return str(folder)


def raw_row(index: int, document: int | None = None) -> dict[str, list[int]]:
    """A row of two chunks, as it is stored; few of the pieces occur, which is soon learnt."""
    rng = np.random.default_rng(index)
    lengths = rng.integers(2, 9, 2).tolist()
    starts = rng.integers(0, 4, 2)
    chunks = [(5 + (start + np.arange(length)) % PIECES).tolist() for start, length in zip(starts, lengths)]
    keys = [2 * index + 1, 2 * index + 2] if document is None else [document] * 2
    return {
        features.EXAMPLE_ID: [int(rng.integers(-(2**62), 2**62))],
        features.RAW_TOKENS: chunks[0] + chunks[1],
        features.WORD_STARTS: [1] * sum(lengths),
        features.SENTENCE_STARTS: rng.integers(0, 2, sum(lengths)).tolist(),
        features.CHUNK_LENGTHS: lengths,
        features.DOCUMENT_KEYS: keys,
    }


def pair_row(index: int) -> dict[str, list]:
    """A row of one to three pairs of texts, each pair with a number, as it is stored."""
    rng = np.random.default_rng(index)
    records = int(rng.integers(1, 4))
    lengths = rng.integers(1, 3, 2 * records).tolist()
    starts = [int(place == 0) for length in lengths for place in range(length)]
    return {
        features.EXAMPLE_ID: [1000 - index],
        features.RAW_TOKENS: rng.integers(5, len(VOCABULARY), sum(lengths)).tolist(),
        features.WORD_STARTS: starts,
        features.SENTENCE_STARTS: starts,
        features.CHUNK_LENGTHS: lengths,
        features.DOCUMENT_KEYS: np.repeat(100 * index + 1 + np.arange(records), 2).tolist(),
        "record_labels": (index + np.arange(records) / 4).tolist(),
    }


def write_rows(path, rows) -> None:
    """Writes rows as gzipped TFRecords."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
        for row in rows:
            parts = {name: _feature(values) for name, values in row.items()}
            parts[features.SOURCE] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"made up"]))
            example = tf.train.Example(features=tf.train.Features(feature=parts))
            writer.write(example.SerializeToString())


def _feature(values) -> tf.train.Feature:
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def write_split(directory, count: int = 30, shards: int = 2, split: str = "train", first: int = 0):
    """Writes a split in shards, the training split where no other is named, and returns its patterns."""
    for shard in range(shards):
        rows = [raw_row(index) for index in range(first + shard, first + count, shards)]
        write_rows(os.path.join(directory, f"Split-{split}", f"data-{shard:05d}.gz"), rows)
    return [os.path.join(directory, f"Split-{split}", "*")]


def write_artifact(directory, count: int = 30) -> list[str]:
    """Writes a whole artifact, tokenizer included, and returns the patterns of its training split."""
    save_tokenizer(WordPieceTokenizer(VOCABULARY), os.path.join(directory, "tokenizer"))
    return write_split(directory, count)
