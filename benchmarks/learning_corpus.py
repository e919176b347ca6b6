"""One corpus for all recipes: documents read and cleaned once, tokenizers and rows made where they differ."""

import hashlib
import json
import pathlib
from collections.abc import Sequence
from typing import NamedTuple

import apache_beam as beam

from firth.corpus import (
    EVAL,
    SPLITS,
    TRAIN,
    ReadSources,
    check_sources,
    count_corpus_words,
    curate,
    make_sequences,
    train_tokenizer,
)
from firth.corpus.packing.sequences import COUNTS_FILE
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import DocstringsSource, Source
from firth.recipes.run.recipe import Recipe

PACKAGES = ("apache_beam", "keras", "matplotlib", "numpy", "pandas", "sklearn")
SOURCE = DocstringsSource(kind="docstrings", packages=PACKAGES, standard_library=True)


class Prepared(NamedTuple):
    """Training data of a recipe.

    Attributes:
        tokenizer: Directory of the tokenizer.
        train, eval: Patterns of row files.
        tokens_per_row: Mean of the training rows, special tokens and padding not counted.
    """

    tokenizer: str
    train: str
    eval: str
    tokens_per_row: float


class Corpus:
    """A folder with the documents, and with what recipes make of them.

    Args:
        folder: Kept, and used again.
        sources: Where the documents come from.
    """

    def __init__(self, folder: pathlib.Path, sources: Sequence[Source] = (SOURCE,)):
        self._folder = folder
        self._sources = sources
        if not (folder / "corpus_report.json").exists():
            self._read_and_clean()
        self._words: dict[tuple[str, bool], dict[str, int]] = {}

    def prepare(self, recipe: Recipe) -> Prepared:
        """Returns the tokenizer and the rows of a recipe, made if no recipe before had the same."""
        tokenizer = self._folder / f"tokenizer-{_key(recipe.tokenizer)}"
        if not tokenizer.exists():
            train_tokenizer(self._count(recipe.tokenizer), recipe.tokenizer, str(tokenizer))
        room = recipe.objective.special_tokens, recipe.objective.raw_length(recipe.sequences)
        rows = self._folder / f"rows-{_key(recipe.tokenizer, recipe.sequences, room)}"
        if not (rows / COUNTS_FILE).exists():
            self._pack(recipe, tokenizer, rows)
        counts = json.loads((rows / COUNTS_FILE).read_text())[TRAIN]
        patterns = f"{rows}/{TRAIN}/*", f"{rows}/{EVAL}/*"
        return Prepared(str(tokenizer), *patterns, counts["tokens"] / counts["rows"])

    def _pack(self, recipe, tokenizer, rows):
        make_sequences(
            _make_pipeline,
            {split: f"{self._folder}/{split}/*" for split in SPLITS},
            str(tokenizer),
            recipe.sequences,
            recipe.objective.special_tokens,
            recipe.objective.raw_length(recipe.sequences),
            {split: f"{rows}/{split}" for split in SPLITS},
            str(_made(rows)),
        )

    def _read_and_clean(self):
        folder = str(_made(self._folder))
        with _make_pipeline() as pipeline:
            documents = pipeline | ReadSources(list(self._sources), folder)
            _ = documents | beam.io.WriteToTFRecord(f"{folder}/raw/data", file_name_suffix=".gz")
        check_sources(folder)
        splits = {split: f"{folder}/{split}" for split in SPLITS}
        curate(_make_pipeline, folder, f"{folder}/raw/*", Cleaning(), splits, folder)

    def _count(self, config):
        key = config.kind, config.lowercase
        if key not in self._words:
            pattern = f"{self._folder}/{TRAIN}/*"
            self._words[key] = count_corpus_words(_make_pipeline, pattern, config, str(self._folder))
        return self._words[key]


def _make_pipeline() -> beam.Pipeline:
    return beam.Pipeline(argv=["--direct_running_mode=in_memory", "--direct_num_workers=1"])


def _made(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _key(*parts) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
