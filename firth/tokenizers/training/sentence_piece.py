"""Training SentencePiece on a table of word counts."""

import io
from collections.abc import Mapping
from typing import Literal

from firth.tokenizers.graph.sentencepiece_model import with_sentinels
from firth.tokenizers.graph.special_pieces import CLS, MASK, PAD, SEP, SPECIAL_PIECES, UNK
from firth.tokenizers.graph.vocabulary import sentinel_pieces

# Expected counts are summed thread by thread: their number is part of the result, and no machine's.
_THREADS = 4
_NORMALIZATION = "nmt_nfkc"
_MAX_WORD_BYTES = 4192
# The package's time and memory grow with the counts of unigram's words, of which it needs the proportions
# alone; so many take about a gigabyte.
_MOST_COUNTED = 10_000_000


def train_sentencepiece(
    word_counts: Mapping[str, int],
    vocabulary_size: int,
    model: Literal["unigram", "bpe"],
    sentinels: int = 0,
    character_coverage: float = 0.9995,
    byte_fallback: bool = False,
    lowercase: bool = False,
) -> bytes:
    """Returns a model trained by the sentencepiece package (Kudo and Richardson 2018).

    The package gets the words with their counts and in sorted order, so the result depends on the counts
    alone and memory grows with the distinct words. For `unigram`, counts of more than ten million words are
    scaled down to that number, which drops the rarest words.

    Args:
        word_counts: Number of occurrences of each word, as `count_spaced_words` returns them.
        vocabulary_size: Most pieces to train, special ones included. There are fewer if the words yield no
            more, which the caller must check.
        model: Algorithm, `unigram` (Kudo 2018) or `bpe`.
        sentinels: Number of sentinels that end the vocabulary; they count in its size.
        character_coverage: Share of all characters that have pieces.
        byte_fallback: True to give a piece to each byte, for characters without one, instead of `[UNK]`.
        lowercase: True to fold case.

    Raises:
        ValueError: if `vocabulary_size` is too small for the characters of the words.

    Example:

    >>> words = {"fox": 9, "foxes": 5, "the": 20, "box": 4}
    >>> train_sentencepiece(words, 24, "bpe") == train_sentencepiece(dict(reversed(words.items())), 24, "bpe")
    True
    """
    import sentencepiece

    if model == "unigram":
        word_counts = _scaled(word_counts, _MOST_COUNTED)
    written = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(f"{word}\t{word_counts[word]}" for word in sorted(word_counts)),
            model_writer=written,
            input_format="tsv",
            model_type=model,
            vocab_size=vocabulary_size - sentinels,
            hard_vocab_limit=False,
            character_coverage=character_coverage,
            byte_fallback=byte_fallback,
            normalization_rule_name=_NORMALIZATION + "_cf" * lowercase,
            max_sentence_length=_MAX_WORD_BYTES,
            num_threads=_THREADS,
            minloglevel=2,
            bos_id=-1,
            eos_id=-1,
            pad_id=SPECIAL_PIECES.index(PAD),
            pad_piece=PAD,
            unk_id=SPECIAL_PIECES.index(UNK),
            unk_piece=UNK,
            user_defined_symbols=[CLS, SEP, MASK],
        )
    except RuntimeError as error:
        raise ValueError(f"no model of {vocabulary_size} pieces: {error}") from error
    return with_sentinels(written.getvalue(), sentinel_pieces(sentinels))


def _scaled(word_counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Returns counts in proportion whose sum is about `most` or less, without the words too rare for one.

    Example:

    >>> _scaled({"the": 70, "fox": 30, "elk": 1}, 10)
    {'the': 6, 'fox': 3}
    """
    scale = max(-(-sum(word_counts.values()) // most), 1)
    scaled = {word: (2 * count + scale) // (2 * scale) for word, count in word_counts.items()}
    return {word: count for word, count in scaled.items() if count}
