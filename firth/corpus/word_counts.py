"""Words of a corpus counted in Beam, and the tokenizer trained on them."""

from collections import Counter
from collections.abc import Callable, Iterable

import apache_beam as beam

from firth.corpus.document import Document
from firth.corpus.errors import EmptyCorpusError
from firth.corpus.json_files import read_json, write_json
from firth.corpus.records import ReadBatches
from firth.recipes.tokenizer import AnyTokenizer as Config
from firth.recipes.tokenizer import WordTokenizer as WordConfig


def count_corpus_words(
    make_pipeline: Callable[[], beam.Pipeline], pattern: str, lowercase: bool, scratch_folder: str
) -> dict[str, int]:
    """Returns how often each word stands in the documents of TFRecord files.

    Words are what encoding takes for words: normalised and pre-tokenized in the same way.

    Args:
        make_pipeline: Returns a new Beam pipeline.
        pattern: Of the TFRecord files.
        lowercase: As the tokenizer will.
        scratch_folder: Where the workers can write and this process can read.
    """
    path = f"{scratch_folder}/word_counts.json"
    with make_pipeline() as pipeline:
        _ = (
            pipeline
            | "Documents" >> ReadBatches(pattern)
            | "Count" >> beam.Map(_count, lowercase)
            | "Sum" >> beam.CombineGlobally(_sum_counts)
            | "Write" >> beam.Map(lambda counts: write_json(path, dict(counts)))
        )
    return read_json(path)


def train_tokenizer(word_counts: dict[str, int], config: Config, folder: str) -> str:
    """Trains a tokenizer on word counts, saves it and returns its digest.

    Raises:
        EmptyCorpusError: if there are no words.
    """
    from firth.tokenizers import save_tokenizer

    if not word_counts:
        raise EmptyCorpusError("no tokenizer can be trained: the train split has no word")
    return save_tokenizer(_tokenizer(word_counts, config), folder)


def _tokenizer(word_counts: dict[str, int], config: Config):
    from firth.tokenizers import (
        WordPieceTokenizer,
        WordTokenizer,
        build_word_vocabulary,
        train_wordpiece,
    )

    if isinstance(config, WordConfig):
        words = build_word_vocabulary(word_counts, config.vocabulary_size, config.min_frequency)
        return WordTokenizer(words, lowercase=config.lowercase, max_characters=config.max_characters)
    vocabulary = train_wordpiece(
        word_counts, config.vocabulary_size, config.min_frequency, sentinels=config.sentinels
    )
    return WordPieceTokenizer(
        vocabulary, lowercase=config.lowercase, max_word_characters=config.max_word_characters
    )


def _count(records: list[bytes], lowercase: bool) -> Counter[str]:
    from firth.tokenizers import count_words

    return Counter(count_words([Document.from_example(record).text for record in records], lowercase))


def _sum_counts(counts: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total
