"""Counting of a corpus's words on Beam, and training of a tokenizer on the counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import EmptyCorpusError
from firth.corpus.io.records import ReadBatches
from firth.recipes.tokenizers.tokenizer import AnyTokenizer as Config
from firth.recipes.tokenizers.tokenizer import BytePairTokenizer as BytePairConfig
from firth.recipes.tokenizers.tokenizer import SentencePieceTokenizer as SentencePieceConfig
from firth.recipes.tokenizers.tokenizer import WordTokenizer as WordConfig
from firth.recipes.tokenizers.tokenizer import tokenizer_from_json
from firth.storage import read_json, write_json

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer


def count_corpus_words(
    make_pipeline: Callable[[], beam.Pipeline], pattern: str, config: Config, scratch_folder: str
) -> dict[str, int]:
    """Returns the number of occurrences of each word in the documents of TFRecord files.

    Words are the units that the tokenizer splits text into before it looks for pieces: they are normalized
    and separated in the same way.

    Args:
        make_pipeline: Returns a new Beam pipeline.
        pattern: Path pattern of the TFRecord files of documents.
        config: Settings of the tokenizer that will be trained on the counts.
        scratch_folder: Folder that the workers can write and this process can read.
    """
    path = f"{scratch_folder}/word_counts.json"
    with make_pipeline() as pipeline:
        _ = (
            pipeline
            | "Documents" >> ReadBatches(pattern)
            | "Count" >> beam.Map(_count, config.to_json())
            | "Sum" >> beam.CombineGlobally(_sum_counts)
            | "Write" >> beam.Map(lambda counts: write_json(path, dict(counts)))
        )
    return read_json(path)


def train_tokenizer(
    word_counts: dict[str, int],
    config: Config,
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

    if not word_counts:
        raise EmptyCorpusError("no tokenizer can be trained: the train split has no word")
    return save_tokenizer(_tokenizer(word_counts, config, {"normalization": normalization}), folder)


def _tokenizer(word_counts: dict[str, int], config: Config, common: dict[str, Any]) -> "AnyTokenizer":
    from firth.tokenizers import (
        BytePairTokenizer,
        SentencePieceTokenizer,
        WordPieceTokenizer,
        WordTokenizer,
        build_word_vocabulary,
        train_byte_pairs,
        train_sentencepiece,
        train_wordpiece,
    )

    size = config.vocabulary_size
    if isinstance(config, WordConfig):
        words = build_word_vocabulary(word_counts, size, config.min_frequency)
        return WordTokenizer(
            words, lowercase=config.lowercase, max_characters=config.max_characters, **common
        )
    if isinstance(config, BytePairConfig):
        ordered = dict(sorted(word_counts.items(), key=lambda item: (-item[1], item[0])))
        pieces = train_byte_pairs(ordered, size, config.min_frequency, config.sentinels, config.ties)
        return BytePairTokenizer(pieces, **common)
    if isinstance(config, SentencePieceConfig):
        model = train_sentencepiece(
            word_counts,
            size,
            config.model,
            config.sentinels,
            character_coverage=config.character_coverage,
            byte_fallback=config.byte_fallback,
            lowercase=config.lowercase,
        )
        return SentencePieceTokenizer(model, lowercase=config.lowercase, **common)
    vocabulary = train_wordpiece(word_counts, size, config.min_frequency, sentinels=config.sentinels)
    return WordPieceTokenizer(
        vocabulary, lowercase=config.lowercase, max_word_characters=config.max_word_characters, **common
    )


def _count(records: list[bytes], config_json: str) -> Counter[str]:
    from firth.tokenizers import count_byte_words, count_spaced_words, count_words

    texts = [Document.from_example(record).text for record in records]
    config = tokenizer_from_json(config_json)
    if isinstance(config, BytePairConfig):
        return Counter(count_byte_words(texts))
    if isinstance(config, SentencePieceConfig):
        return Counter(count_spaced_words(texts))
    return Counter(count_words(texts, config.lowercase))


def _sum_counts(counts: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total
