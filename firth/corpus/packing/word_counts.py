"""Counting of a corpus's words on Beam, and training of a tokenizer on the counts."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import apache_beam as beam

from firth.corpus.documents.corpus_counts import sum_counters
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import EmptyCorpusError
from firth.corpus.io.records import Patterns, ReadBatches
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig
from firth.storage import read_json, write_json

if TYPE_CHECKING:
    from firth.tokenizers.kind import WordCounter


def count_corpus_words(
    make_pipeline: Callable[[], beam.Pipeline],
    patterns: Patterns,
    config: AnyTokenizerConfig,
    scratch_folder: str,
) -> dict[str, int]:
    """Returns the number of occurrences of each word in the documents of TFRecord files.

    Words are the units that the tokenizer splits text into before it looks for pieces: they are normalized
    and separated in the same way.

    Args:
        make_pipeline: Returns a new Beam pipeline.
        patterns: Path patterns of the TFRecord files of documents.
        config: Settings of the tokenizer that will be trained on the counts.
        scratch_folder: Folder that the workers can write and this process can read. It is made if
            need be.
    """
    # Imported here, since the workers would load KerasHub with it.
    from firth.tokenizers.tokenizer_kinds import TOKENIZERS

    path = os.path.join(scratch_folder, "word_counts.json")
    with make_pipeline() as pipeline:
        _ = (
            pipeline
            | "Documents" >> ReadBatches(patterns)
            | "Count" >> beam.Map(_count, TOKENIZERS[config.kind].word_counter(config))
            | "Sum" >> beam.CombineGlobally(sum_counters)
            | "Write" >> beam.Map(lambda counts: write_json(path, dict(counts)))
        )
    return read_json(path)


def train_tokenizer(
    word_counts: dict[str, int],
    config: AnyTokenizerConfig,
    folder: str,
    normalization: Sequence[Sequence[str]] = (),
) -> str:
    """Trains a tokenizer on word counts, saves it and returns its digest.

    Args:
        word_counts: Counts of `count_corpus_words`.
        config: Settings of the tokenizer, from the recipe.
        folder: Folder of the saved tokenizer.
        normalization: Substitutions that cleaning applied to text, and which the tokenizer repeats, as
            `firth.recipes.Cleaning.text_steps` gives them.

    Raises:
        EmptyCorpusError: if there are no words.
    """
    from firth.tokenizers import save_tokenizer
    from firth.tokenizers.tokenizer_kinds import TOKENIZERS

    if not word_counts:
        raise EmptyCorpusError("no tokenizer can be trained: the train split has no word")
    return save_tokenizer(TOKENIZERS[config.kind].train(word_counts, config, normalization), folder)


def _count(records: list[bytes], count_words: "WordCounter") -> Counter[str]:
    return Counter(count_words([Document.from_example(record).text for record in records]))
