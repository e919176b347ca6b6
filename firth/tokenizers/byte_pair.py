"""Byte-level byte-pair encoding with the pattern of GPT-2 or of Llama 3, in the TensorFlow graph."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from firth.tokenizers.graph import byte_pair_kernel
from firth.tokenizers.graph.byte_pair_kernel import BytePairKernel
from firth.tokenizers.graph.byte_pieces import byte_pieces, ranks_of, read_merges, to_bytes
from firth.tokenizers.graph.characters import table_digest
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tokenizers.graph.vocabulary import is_sentinel, mark_suffix
from firth.tokenizers.graph.word_bounds import WordBounds
from firth.tokenizers.kind import WordCounter
from firth.tokenizers.piece_tokenizer import PieceTokenizer, Specials, digest_of
from firth.tokenizers.training.byte_pair import train_byte_pairs
from firth.tokenizers.training.counting import count_byte_words

_USUAL_PATTERN = "gpt2"

_BYTES = frozenset(byte_pieces())


class BytePairTokenizer(PieceTokenizer):
    """Text to ids of pieces of bytes and back (Radford et al. 2019, section 2.2; Sennrich et al. 2016).

    Text is split by GPT-2's pattern, or by Llama 3's, into words with the space before them. In each word,
    the pair of pieces that makes the earliest piece of the vocabulary, or that is the earliest of `merges`,
    is merged until there is no such pair. Ids equal those of Hugging Face's `ByteLevel` and `BPE` with the
    same vocabulary.

    Every string of bytes can be encoded, and is decoded byte for byte. Bytes that are not UTF-8 belong to the
    word after them. A special piece typed in text, such as `[MASK]`, is ordinary text unless it is asked for;
    then `[MASK]` and the sentinels include one space before them, since they replace a word with its space,
    unless the special pieces are kept with another choice.

    Args:
        vocabulary: Pieces in the order of their ids, as for `PieceTokenizer`. A piece's bytes are written in
            GPT-2's printable characters, in which a space is `Ġ`. Without `merges`, the pieces of more than
            one byte are in the order in which they are merged.
        normalization: Steps before all else, as for `PieceTokenizer`.
        specials: Special pieces by their roles, as for `PieceTokenizer`.
        merges: Merges in their order, two pieces with a space between; empty where the vocabulary says them.
        pattern: How text is split: `gpt2` or `llama3`.
        whole_words: True if a word that is a piece is that piece, whether or not its merges make it.
        **kwargs: Arguments of `keras_hub.tokenizers.Tokenizer`, such as `name`.

    Raises:
        ValueError: as for `PieceTokenizer`, or if a byte has no piece, or a merge does not fit.

    Example:

    >>> from firth.tokenizers.graph.byte_pieces import byte_pieces
    >>> from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
    >>> tokenizer = BytePairTokenizer([*SPECIAL_PIECES, *byte_pieces(), "Ġf", "ox", "Ġfox"])
    >>> ids = tokenizer.tokenize("a fox [MASK]", specials=["[MASK]"]).numpy().tolist()
    >>> [tokenizer.id_to_token(id) for id in ids], tokenizer.detokenize(ids[:2]).numpy()
    (['a', 'Ġfox', '[MASK]'], b'a fox')
    """

    kind = "bpe"
    keeps_spaces = True
    lowercase = False
    _strips_first_space = False

    def __init__(
        self,
        vocabulary: Sequence[str],
        normalization: Sequence[Sequence[str]] = (),
        specials: Specials = None,
        merges: Sequence[str] = (),
        pattern: str = _USUAL_PATTERN,
        whole_words: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocabulary, normalization, specials, **kwargs)
        if pattern not in byte_pair_kernel.PATTERNS:
            raise ValueError(f"pattern: {pattern!r} is not one of {', '.join(byte_pair_kernel.PATTERNS)}")
        self.merges, self.pattern, self.whole_words = tuple(merges), pattern, whole_words
        ranks = ranks_of(read_merges(merges, self._vocabulary.ids)) if merges else None
        alone, after_space = self._vocabulary.alone, self._vocabulary.after_space
        all_spaces = self.specials.spaces_before == "all"
        self.kernel = BytePairKernel(vocabulary, alone, after_space, all_spaces, ranks, pattern, whole_words)
        self.word_bounds = WordBounds.of_texts(self.piece_texts, self.special_ids)
        self._keep_rendered(self.piece_texts)

    def _encode_words(self, words: tf.Tensor, after_space: tf.Tensor) -> tf.RaggedTensor:
        words = tf.strings.join([tf.where(after_space, " ", ""), words])
        return self.kernel(words, asked=self.special_texts)

    @classmethod
    def word_counter(cls, config: Any) -> WordCounter:  # noqa: D102
        return functools.partial(count_byte_words, specials=config.special_texts)

    @classmethod
    def train(  # noqa: D102
        cls, word_counts: Mapping[str, int], config: Any, normalization: Sequence[Sequence[str]] = ()
    ) -> "BytePairTokenizer":
        ordered = dict(sorted(word_counts.items(), key=lambda item: (-item[1], item[0])))
        size = config.vocabulary_size
        return cls(
            train_byte_pairs(ordered, size, config.min_frequency, config.sentinels, config.ties),
            normalization,
            special_texts=config.special_texts,
        )

    @classmethod
    def as_word_piece(cls, piece: str) -> str:  # noqa: D102
        is_special = piece in SPECIAL_PIECES or is_sentinel(piece)
        return mark_suffix(piece, piece if is_special else to_bytes(piece).decode(errors="replace"))

    @classmethod
    def _is_filler(cls, piece: str) -> bool:
        return piece in _BYTES or super()._is_filler(piece)

    @staticmethod
    def _bytes_of(piece: str) -> bytes:
        try:
            return to_bytes(piece)
        except ValueError:
            # A piece that no text leads to, which only a vocabulary with merges may have.
            return piece.encode()

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments that make this tokenizer again, next to its vocabulary."""
        merges = {"merges": list(self.merges)} if self.merges else {}
        return {**super().settings, **merges, **self._splitting}

    @property
    def _splitting(self) -> dict[str, Any]:
        pattern = {"pattern": self.pattern} if self.pattern != _USUAL_PATTERN else {}
        return {**pattern, **({"whole_words": True} if self.whole_words else {})}

    @property
    def digest(self) -> str:
        """SHA-256 over the vocabulary, the settings and the table by which words are split, in hex."""
        content = [self.kind, self.get_vocabulary(), table_digest("split_classes"), *self._digested]
        apart = [each for each in (self.merges, self._splitting) if each]
        return digest_of(*content, *apart)
