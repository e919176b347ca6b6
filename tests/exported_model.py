"""A tiny model, exported once for all tests that need one, and rows of two sources to evaluate it on."""

import contextlib
import functools
import itertools
import os
import pathlib
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unittest import mock

import numpy as np
import tensorflow as tf

from firth import recipes
from firth.models import build_pretraining_model
from firth.serving import Client
from firth.serving.saved_model import export
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.tokenizers import WordPieceTokenizer
from tests.made_once import made_once_of_run

WORDS = (
    *("the", "a", "of", "cat", "sat", "on", "mat", "word", "by", "company", "it", "keeps", "you", "shall"),
    *("know", ".", ",", "##s", "##ing", "z", "é"),
)
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
ROWS_OF_VOCABULARY = 40

RECIPE = recipes.Recipe(
    name="tiny",
    seed=10,
    sources=(recipes.TextSource(kind="text", paths=("unread.txt",)),),
    tokenizer=recipes.WordPieceTokenizerConfig(vocabulary_size=ROWS_OF_VOCABULARY),
    sequences=recipes.Sequences(length=24, max_documents=3),
    objective=recipes.MaskedLM(max_predictions=4),
    model=recipes.MaskedTransformerConfig(
        layers=1,
        width=8,
        attention=recipes.AttentionConfig(heads=2),
        positions=recipes.LearnedPositionsConfig(length=32),
        initializer_stddev=0.5,
    ),
    training=recipes.Training(steps=1, optimizer=recipes.AdamWConfig(warmup_steps=0)),
    evaluation=recipes.Evaluation(batch_size=4),
    export=recipes.Export(top_k=3),
)

UNIGRAM_COUNTS = np.where(np.arange(ROWS_OF_VOCABULARY) < len(VOCABULARY), np.arange(ROWS_OF_VOCABULARY), 0)


class Exported(NamedTuple):
    """A SavedModel and what it was made of."""

    directory: str
    served: Served
    rows: list[bytes]
    sources: list[bytes]


@functools.cache
def exported_model() -> Exported:
    """Returns the model, which the first worker of a run exports. Each makes its own of the same seed."""
    served = make_served(RECIPE)
    inner = os.path.join("model", "Format-Serving")

    def make(folder: pathlib.Path) -> None:
        export(served.model, served.tokenizer, RECIPE, UNIGRAM_COUNTS, str(folder / inner))

    return Exported(str(made_once_of_run()("exported_model", make) / inner), served, *exported_rows())


def exported_rows() -> tuple[list[bytes], list[bytes]]:
    """Returns rows of two sources, and their sources."""
    sources = [b"books" if index % 3 else b"web" for index in range(10)]
    rows = [make_row(np.random.default_rng(index), index, source) for index, source in enumerate(sources)]
    return rows, sources


@contextlib.contextmanager
def first_signature_alone(evaluates: bool = True, count: int = 1) -> Iterator[None]:
    """Exports a model's default signature, and `evaluate`: tracing the others takes most of the time.

    Args:
        evaluates: Export `evaluate` too, which takes as long as the rest.
        count: Number of signatures, if not the first alone.
    """

    def offered(*arguments):
        return dict(itertools.islice(text_signatures(*arguments).items(), count))

    with (
        mock.patch("firth.serving.saved_model.text_signatures", offered),
        mock.patch("firth.serving.warmup.text_signatures", offered),
        contextlib.nullcontext()
        if evaluates
        else mock.patch("firth.serving.saved_model._is_evaluated", lambda *_: False),
    ):
        yield


@functools.cache
def client_of_exported() -> Client:
    """Returns a client of the exported model, which is loaded once for all tests of a worker."""
    return Client(exported_model().directory)


def loaded_model():
    """The exported model, as TensorFlow 2 loads it."""
    return client_of_exported().saved_model


def examples_artifact(uri: str, rows: Sequence[bytes] | None = None):
    """Writes rows, or those of the tiny model, as SequenceGen's eval split; returns the TFX artifact."""
    from tfx.types import artifact_utils, standard_artifacts

    artifact = standard_artifacts.Examples()
    artifact.uri = uri
    artifact.split_names = artifact_utils.encode_split_names(["train", "eval"])
    os.makedirs(os.path.join(uri, "Split-eval"))
    path = os.path.join(uri, "Split-eval", "rows-00000-of-00001.gz")
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP")) as writer:
        for row in exported_rows()[0] if rows is None else rows:
            writer.write(row)
    return artifact


def make_served(recipe) -> Served:
    # Keras draws seeds that are not given from it. `set_random_seed` also drops TensorFlow's kernels.
    random.seed(1)
    return Served(build_pretraining_model(recipe), WordPieceTokenizer(VOCABULARY), recipe)


def make_row(random, example_id: int, source: bytes, negative: bool = True) -> bytes:
    """A row of two documents as SequenceGen writes it, with a negative row by default."""
    fields = {"example_id": [example_id], **_fields(random, 100 + example_id)}
    if negative:
        fields |= {f"negative_{name}": values for name, values in _fields(random, 900 + example_id).items()}
    features = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=values)) for name, values in fields.items()
    }
    features["source"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[source]))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _fields(random, document_key: int) -> dict[str, list[int]]:
    lengths = [int(length) for length in random.integers(3, 9, size=2)]
    total = sum(lengths)
    starts = [0, lengths[0]]
    return {
        "tokens": random.integers(5, len(VOCABULARY), size=total).tolist(),
        "word_starts": [int(random.random() < 0.7 or index in starts) for index in range(total)],
        "sentence_starts": [int(index in (0, 2, lengths[0])) for index in range(total)],
        "chunk_lengths": lengths,
        "document_keys": [document_key, document_key + 50],
    }
