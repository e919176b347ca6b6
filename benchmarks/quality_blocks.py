"""Joined blocks of one text for `benchmarks.quality`: rows for firth, and arrays of the same ids."""

import hashlib
import json
import pathlib
from collections.abc import Iterator

import apache_beam as beam
import numpy as np
import tensorflow as tf

from benchmarks.learning_corpus import Corpus
from benchmarks.learning_worker import features_of, held_out_rows
from benchmarks.workers.batches import dense_labels
from firth import features
from firth.corpus import EVAL, TRAIN, make_sequences
from firth.corpus.documents.document import Document
from firth.corpus.io.records import read_batches
from firth.models import build_model
from firth.recipes.run.recipe import Recipe
from firth.serving.served_model import Served
from firth.training.pretraining import load_recipe_tokenizer

# Documents are joined to texts of so many characters, which fill rows but for the last one of each.
JOINED_CHARACTERS = 200_000
HELD_OUT_ROWS = 256
ROLES = ("cls", "sep", "mask")


class Blocks:
    """The text of a corpus as joined blocks, kept in a folder.

    Args:
        corpus: Corpus whose cleaned documents are joined.
        folder: Folder of that corpus, in which the blocks are kept too.
    """

    def __init__(self, corpus: Corpus, folder: pathlib.Path):
        self._corpus, self._folder = corpus, folder / "joined"
        for split in (TRAIN, EVAL):
            if not (self._folder / f"{split}.done").exists():
                self._join(folder, split)

    def rows(self, recipe: Recipe) -> tuple[str, pathlib.Path]:
        """Returns the tokenizer's folder and that of the rows, in a folder for each split."""
        tokenizer = self._corpus.prepare(recipe).tokenizer
        room = recipe.objective.raw_length(recipe.sequences)
        key = hashlib.sha256(repr((recipe.tokenizer, recipe.sequences, room)).encode()).hexdigest()[:16]
        rows = self._folder / f"rows-{key}"
        if not rows.exists():
            make_sequences(
                lambda: beam.Pipeline(argv=["--direct_running_mode=in_memory", "--direct_num_workers=1"]),
                {split: f"{self._folder}/{split}/*" for split in (TRAIN, EVAL)},
                tokenizer,
                recipe.sequences,
                recipe.objective.special_tokens,
                room,
                {split: f"{rows}/{split}" for split in (TRAIN, EVAL)},
                str(self._folder),
            )
        return tokenizer, rows

    def write_arrays(self, recipe: Recipe, path: pathlib.Path) -> None:
        """Writes the ids of the training rows in full blocks, and held-out rows with the objective's labels.

        firth's rows end between two words, so that some are a little shorter.
        """
        tokenizer, rows = self.rows(recipe)
        full = recipe.objective.raw_length(recipe.sequences)
        ids = np.concatenate(list(_ids_of(f"{rows}/{TRAIN}/*")))
        served = Served(build_model(recipe), load_recipe_tokenizer(recipe, tokenizer), recipe)
        held_out = features_of(served, held_out_rows(f"{rows}/{EVAL}/*", HELD_OUT_ROWS))
        np.savez(
            path,
            blocks=ids[: len(ids) // full * full].reshape(-1, full).astype("int32"),
            held_out_ids=held_out[features.TOKEN_IDS],
            held_out_labels=dense_labels(held_out),
            special=json.dumps({role: getattr(served.tokenizer, f"{role}_id") for role in ROLES}),
        )

    def _join(self, folder, split):
        texts, size, number = [], 0, 0
        (self._folder / split).mkdir(parents=True, exist_ok=True)
        with tf.io.TFRecordWriter(f"{self._folder}/{split}/data.gz", "GZIP") as writer:
            for document in _documents(f"{folder}/{split}/*"):
                texts.append(document.text)
                size += len(document.text)
                if size > JOINED_CHARACTERS:
                    joined = Document(f"{number:x}", "\n\n".join(texts), "joined", "", str(number))
                    writer.write(joined.to_example())
                    texts, size, number = [], 0, number + 1
        (self._folder / f"{split}.done").touch()


def _documents(pattern: str) -> Iterator[Document]:
    """Yields documents in an order that does not follow their source."""
    found = [
        Document.from_example(record)
        for path in sorted(tf.io.gfile.glob(pattern))
        for batch in read_batches(path)
        for record in batch
    ]
    yield from sorted(found, key=lambda each: hashlib.sha256(each.id.encode()).hexdigest())


def _ids_of(pattern: str) -> Iterator[np.ndarray]:
    spec = {features.RAW_TOKENS: tf.io.VarLenFeature(tf.int64)}
    for record in tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(pattern)), "GZIP"):
        yield tf.io.parse_single_example(record, spec)[features.RAW_TOKENS].values.numpy()
