"""Whole words, each with its characters, in the TensorFlow graph."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import keras_hub
import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.characters import table_digest
from firth.tokenizers.graph.normalizer import build_normalizer_model
from firth.tokenizers.graph.special_marks import mark_words, unmark_words
from firth.tokenizers.graph.text_normalization import TextNormalization
from firth.tokenizers.graph.vocabulary import check_pieces
from firth.tokenizers.graph.word_bounds import WordBounds
from firth.tokenizers.graph.word_characters import BEGIN_WORD, END_WORD, sentence_characters, word_characters
from firth.tokenizers.kind import PieceBytes, TokenizerKind, WordCounter
from firth.tokenizers.piece_tokenizer import digest_of
from firth.tokenizers.training.counting import count_words, ideograph_pattern

BOS, EOS, UNK = SPECIAL_WORDS = (BEGIN_WORD, END_WORD, "<UNK>")


class WordTokenizer(TokenizerKind, keras_hub.tokenizers.Tokenizer):
    """Text to words, their ids and their characters (Peters et al. 2018, section 3.4).

    Text is cleaned and split at spaces, around punctuation and around CJK ideographs, as `WordPieceTokenizer`
    does. The ids are only what a softmax predicts: a word outside the vocabulary has the id of `<UNK>` as a
    label, and its own characters as an input.

    `<S>`, `</S>` and `<UNK>` typed in text are ordinary text, three words. Those that are asked for are words
    of the vocabulary where they are typed between spaces, as in bilm-tf: the first two are read as the marks
    of a sentence, the third as its bytes.

    Args:
        vocabulary: Words `<S>`, `</S>`, `<UNK>`, then others by descending count, which sampled softmax
            relies on.
        lowercase: True to lower-case and strip accents.
        max_characters: Characters of a word, with the marks at its begin and end.
        normalization: Steps that bring text to one form before all else, as `TextNormalization` takes them.
        special_texts: Special words that are read as such where they are typed in a text.
        **kwargs: Arguments of `keras_hub.tokenizers.Tokenizer`, such as `name`.

    Raises:
        ValueError: for a vocabulary with duplicates or other first words, or for a name in `special_texts`
            that is not a special word.

    Example:

    >>> tokenizer = WordTokenizer(["<S>", "</S>", "<UNK>", "the", "cat", "."])
    >>> tokenizer.tokenize(["the cat purrs."]).to_list()
    [[3, 4, 2, 5]]
    >>> tokenizer.split(["the cat purrs."]).to_list()
    [[b'the', b'cat', b'purrs', b'.']]

    Attributes:
        pad_id: Id after the words of a row; document ids mark padding, not this id.
        bos_id: Id of `<S>`.
        eos_id: Id of `</S>`.
        unk_id: Id of `<UNK>`.
        special_ids: Ids of `<S>`, `</S>` and `<UNK>`.
    """

    pad_id: ClassVar[int] = 0
    bos_id: ClassVar[int] = SPECIAL_WORDS.index(BOS)
    eos_id: ClassVar[int] = SPECIAL_WORDS.index(EOS)
    unk_id: ClassVar[int] = SPECIAL_WORDS.index(UNK)
    special_ids: ClassVar[tuple[int, ...]] = tuple(range(len(SPECIAL_WORDS)))

    kind = "words"

    def __init__(
        self,
        vocabulary: Sequence[str],
        lowercase: bool = False,
        max_characters: int = 50,
        normalization: Sequence[Sequence[str]] = (),
        special_texts: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"dtype": "int32", **kwargs})
        if tuple(vocabulary[:3]) != SPECIAL_WORDS:
            raise ValueError(
                f"the vocabulary begins with {list(vocabulary[:3])}; a word vocabulary begins with "
                f"{', '.join(SPECIAL_WORDS)}, and its words follow by descending count"
            )
        self._ids = check_pieces(vocabulary)
        self._words = tuple(vocabulary)
        self.special_texts = _checked(special_texts)
        self._normalization = TextNormalization(normalization)
        self.lowercase = lowercase
        self.max_characters = max_characters
        with tf.init_scope(), tf.device("CPU"):
            self._normalizer = tf_text.FastBertNormalizer(
                model_buffer=tf.constant(build_normalizer_model(lowercase, split=True))
            )
            # An exported model holds on to it.
            self.kernel = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(self._words), tf.range(len(self._words), dtype=tf.int32)
                ),
                default_value=self.unk_id,
            )

    def split(
        self,
        inputs: tf.Tensor | Sequence[str],
        normalized: bool = False,
        specials: Sequence[str] | None = None,
    ) -> tf.RaggedTensor:
        """Returns the words of texts: string [batch] to string [batch, (words)], ragged.

        Args:
            inputs: Texts, string [batch].
            normalized: True if the texts have their one form already; see `PieceTokenizer.tokenize`.
            specials: Special words that are read as such between spaces; None for `special_texts`.

        Raises:
            ValueError: for a name that is not a special word.
        """
        asked = self.special_texts if specials is None else _checked(specials)
        with tf.device("CPU"):
            text = tf.convert_to_tensor(inputs, tf.string)
            marked = mark_words(text if normalized else self._normalization(text), asked)
            cleaned = self._normalizer.normalize(marked)
            words = tf.strings.split(tf.strings.regex_replace(cleaned, ideograph_pattern(), r" \1 "))
            return words.with_flat_values(unmark_words(words.flat_values, asked))

    def tokenize(
        self,
        inputs: tf.Tensor | str | Sequence[str],
        normalized: bool = False,
        specials: Sequence[str] | None = None,
    ) -> tf.RaggedTensor | tf.Tensor:
        """Returns the ids of texts, without `<S>` and `</S>`.

        Args:
            inputs: Texts, string [batch] or string [], tensors or Python strings.
            normalized: True if the texts have their one form already, as for `split`.
            specials: Special words that are read as such, as for `split`.

        Returns:
            int32 [batch, (words)], ragged; int32 [words] for a single string.
        """
        text = tf.convert_to_tensor(inputs, tf.string)
        if text.shape.rank == 0:
            return self.word_ids(self.split(text[tf.newaxis], normalized, specials)).flat_values
        return self.word_ids(self.split(text, normalized, specials))

    def tokens_and_words(  # noqa: D102
        self, texts: Sequence[str]
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor | None]:
        words = self.split(texts, normalized=True)
        return self.word_ids(words), words

    @classmethod
    def word_counter(cls, config: Any) -> WordCounter:  # noqa: D102
        return functools.partial(count_words, lowercase=config.lowercase, specials=config.special_texts)

    @classmethod
    def train(  # noqa: D102
        cls, word_counts: Mapping[str, int], config: Any, normalization: Sequence[Sequence[str]] = ()
    ) -> "WordTokenizer":
        words = build_word_vocabulary(word_counts, config.vocabulary_size, config.min_frequency)
        return cls(words, config.lowercase, config.max_characters, normalization, config.special_texts)

    def word_ids(self, words: tf.Tensor | tf.RaggedTensor) -> tf.RaggedTensor | tf.Tensor:
        """Returns the ids of words: int32, of the same shape.

        Args:
            words: Words, string of any shape, dense or ragged.
        """
        with tf.device("CPU"):
            if isinstance(words, tf.RaggedTensor):
                return words.with_flat_values(self.kernel.lookup(words.flat_values))
            return self.kernel.lookup(words)

    def characters(self, words: tf.Tensor) -> tf.Tensor:
        """Returns the characters of words, int32 [n, max_characters]; see `word_characters`.

        Args:
            words: Words, string [n].
        """
        return word_characters(words, self.max_characters)

    def detokenize(self, inputs: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """Returns the words of ids with one space between: string [batch].

        Args:
            inputs: Ids, int [batch, words], dense or ragged.
        """
        ids = (
            inputs
            if isinstance(inputs, tf.RaggedTensor | tf.Tensor)
            else tf.ragged.constant(inputs, tf.int32)
        )
        with tf.device("CPU"):
            return tf.strings.reduce_join(tf.gather(tf.constant(self._words), ids), axis=-1, separator=" ")

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> bytes:  # noqa: D102
        text = " ".join(self._words[each] for each in ids).encode()
        return b" " + text if len(ids) and len(after) else text

    @property
    def piece_bytes(self) -> PieceBytes:
        """The bytes that each word writes: a space comes before all but the first."""
        special = set(self.special_ids)
        words = [None if id in special else word.encode() for id, word in enumerate(self._words)]
        return PieceBytes(tuple(words), tuple(None if word is None else b" " + word for word in words))

    def get_vocabulary(self) -> list[str]:
        """Returns the words in the order of their ids."""
        return list(self._words)

    def vocabulary_size(self) -> int:
        """Returns the number of words."""
        return len(self._words)

    def id_to_token(self, id: int) -> str:
        """Returns the word of an id.

        Args:
            id: Id of a word.
        """
        return self._words[id]

    def token_to_id(self, token: str) -> int:
        """Returns the id of a word, that of `<UNK>` for a word outside the vocabulary.

        Args:
            token: Word.
        """
        return self._ids.get(token, self.unk_id)

    @property
    def bos_characters(self) -> npt.NDArray[Any]:
        """Characters of `<S>`: int32 [max_characters]."""
        return sentence_characters(self.max_characters)[0]

    @property
    def eos_characters(self) -> npt.NDArray[Any]:
        """Characters of `</S>`: int32 [max_characters]."""
        return sentence_characters(self.max_characters)[1]

    @property
    def word_start_table(self) -> npt.NDArray[Any]:
        """Tokens that start a word: all of them, bool [vocabulary]."""
        return np.ones(len(self._words), bool)

    @property
    def word_bounds(self) -> WordBounds:
        """Bounds of words: every token is a word."""
        return WordBounds.of_starts(self.word_start_table)

    @property
    def piece_texts(self) -> list[bytes]:
        """Bytes of each word, without spaces between words."""
        return [word.encode() for word in self._words]

    @property
    def recipe_settings(self) -> dict[str, Any]:
        """The settings that the recipe of such a tokenizer has too."""
        return {"lowercase": self.lowercase, "max_characters": self.max_characters}

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments that make this tokenizer again, next to its vocabulary."""
        asked = {"special_texts": list(self.special_texts)} if self.special_texts else {}
        return {**self.recipe_settings, **self._normalization.settings, **asked}

    @property
    def digest(self) -> str:
        """SHA-256 over vocabulary, settings and the normalisation table, in hex."""
        return digest_of("words", self.get_vocabulary(), self.settings, table_digest("characters"))


def _checked(specials: Sequence[str]) -> tuple[str, ...]:
    for name in specials:
        if name not in SPECIAL_WORDS:
            raise ValueError(f"special_texts: {name!r} is not one of {', '.join(SPECIAL_WORDS)}")
    return tuple(specials)


def build_word_vocabulary(
    word_counts: Mapping[str, int], vocabulary_size: int, min_frequency: int = 1
) -> list[str]:
    """Returns the most frequent words by descending count, the three special ones first.

    Of words that occur equally often, the lexicographically greater one comes first, as in `train_wordpiece`.

    Args:
        word_counts: Number of occurrences of each word, as `count_words` returns them.
        vocabulary_size: Most words to return, special ones included.
        min_frequency: Least number of occurrences of a word.

    Example:

    >>> build_word_vocabulary({"cat": 2, "the": 5, "dog": 2, "elk": 1}, 6)
    ['<S>', '</S>', '<UNK>', 'the', 'dog', 'cat']
    """
    frequent = [word for word, count in word_counts.items() if count >= min_frequency]
    frequent = sorted(set(frequent) - set(SPECIAL_WORDS), reverse=True)
    ordered = sorted(frequent, key=lambda word: -word_counts[word])
    return [*SPECIAL_WORDS, *ordered[: max(vocabulary_size - len(SPECIAL_WORDS), 0)]]
