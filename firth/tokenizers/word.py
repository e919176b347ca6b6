"""Whole words, each with its characters, in the TensorFlow graph."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import keras_hub
import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph import characters
from firth.tokenizers.graph.normalizer import build_normalizer_model
from firth.tokenizers.graph.specials import mark_words, unmark_words
from firth.tokenizers.graph.text_normalization import TextNormalization
from firth.tokenizers.graph.vocabulary import check_pieces
from firth.tokenizers.graph.word_bounds import WordBounds
from firth.tokenizers.graph.word_characters import BEGIN_WORD, END_WORD, sentence_characters, word_characters
from firth.tokenizers.training.counting import ideograph_pattern

BOS, EOS, UNK = SPECIAL_WORDS = (BEGIN_WORD, END_WORD, "<UNK>")


class WordTokenizer(keras_hub.tokenizers.Tokenizer):
    """Text to words, their ids and their characters (Peters et al. 2018, section 3.4).

    Text is cleaned and split at spaces, around punctuation and around CJK ideographs, as `WordPieceTokenizer`
    does. The ids are only what a softmax predicts: a word outside the vocabulary has the id of `<UNK>` there,
    and its own characters where it is read.

    `<S>`, `</S>` and `<UNK>` that stand between spaces are the words of the vocabulary, as in bilm-tf: the
    first two are read as the marks of a sentence, the third as its bytes.

    Args:
        vocabulary: `<S>`, `</S>`, `<UNK>`, then words by descending count, which sampled softmax relies on.
        lowercase: Lower-case and strip accents.
        max_characters: Of a word, with the marks at its begin and end.
        normalization: What is done to text before all else, as `TextNormalization` takes it.

    Raises:
        ValueError: for a vocabulary with duplicates or other first words.

    Example:

    >>> tokenizer = WordTokenizer(["<S>", "</S>", "<UNK>", "the", "cat", "."])
    >>> tokenizer.tokenize(["the cat purrs."]).to_list()
    [[3, 4, 2, 5]]
    >>> tokenizer.split(["the cat purrs."]).to_list()
    [[b'the', b'cat', b'purrs', b'.']]
    """

    kind = "words"

    def __init__(
        self,
        vocabulary: Sequence[str],
        lowercase: bool = False,
        max_characters: int = 50,
        normalization: Sequence[Sequence[str]] = (),
        **kwargs,
    ):
        super().__init__(**{"dtype": "int32", **kwargs})
        if tuple(vocabulary[:3]) != SPECIAL_WORDS:
            raise ValueError(
                f"the vocabulary begins with {list(vocabulary[:3])}; a word vocabulary begins with "
                f"{', '.join(SPECIAL_WORDS)}, and its words follow by descending count"
            )
        self._ids = check_pieces(vocabulary)
        self._words = tuple(vocabulary)
        self._normalization = TextNormalization(normalization)
        self.lowercase = lowercase
        self.max_characters = max_characters
        with tf.init_scope(), tf.device("CPU"):
            self._normalizer = tf_text.FastBertNormalizer(
                model_buffer=tf.constant(build_normalizer_model(lowercase, split=True))
            )
            self._table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(self._words), tf.range(len(self._words), dtype=tf.int32)
                ),
                default_value=self.unk_id,
            )

    def split(self, inputs, normalized: bool = False) -> tf.RaggedTensor:
        """Returns the words of texts: string [batch] to string [batch, (words)], ragged.

        Args:
            inputs: string [batch].
            normalized: They have their one form already; see `PieceTokenizer.tokenize`.
        """
        with tf.device("CPU"):
            text = tf.convert_to_tensor(inputs, tf.string)
            marked = mark_words(text if normalized else self._normalization(text), SPECIAL_WORDS)
            cleaned = self._normalizer.normalize(marked)
            words = tf.strings.split(tf.strings.regex_replace(cleaned, ideograph_pattern(), r" \1 "))
            return words.with_flat_values(unmark_words(words.flat_values, SPECIAL_WORDS))

    def tokenize(self, inputs, normalized: bool = False) -> tf.RaggedTensor | tf.Tensor:
        """Returns the ids of texts, without `<S>` and `</S>`.

        Args:
            inputs: string [batch] or string [], tensors or Python strings.
            normalized: As for `split`.

        Returns:
            int32 [batch, (words)], ragged; int32 [words] for a single string.
        """
        text = tf.convert_to_tensor(inputs, tf.string)
        if text.shape.rank == 0:
            return self.word_ids(self.split(text[tf.newaxis], normalized)).flat_values
        return self.word_ids(self.split(text, normalized))

    def call(self, inputs, training=None):
        """Tokenizes: the same as `tokenize`."""
        del training
        return self.tokenize(inputs)

    def word_ids(self, words):
        """Returns the ids of words, string tensors of any shape, dense or ragged."""
        with tf.device("CPU"):
            if isinstance(words, tf.RaggedTensor):
                return words.with_flat_values(self._table.lookup(words.flat_values))
            return self._table.lookup(words)

    def characters(self, words: tf.Tensor) -> tf.Tensor:
        """Returns the characters of words: string [n] to int32 [n, max_characters]; see `word_characters`."""
        return word_characters(words, self.max_characters)

    def detokenize(self, inputs) -> tf.Tensor:
        """Returns the words of ids with one space between: int [batch, words] to string [batch]."""
        ids = (
            inputs
            if isinstance(inputs, tf.RaggedTensor | tf.Tensor)
            else tf.ragged.constant(inputs, tf.int32)
        )
        with tf.device("CPU"):
            return tf.strings.reduce_join(tf.gather(tf.constant(self._words), ids), axis=-1, separator=" ")

    def get_vocabulary(self) -> list[str]:
        """Returns the words in the order of their ids."""
        return list(self._words)

    def vocabulary_size(self) -> int:
        """Returns the number of words."""
        return len(self._words)

    def id_to_token(self, id: int) -> str:
        """Returns the word of an id."""
        return self._words[id]

    def token_to_id(self, token: str) -> int:
        """Returns the id of a word, that of `<UNK>` for a word outside the vocabulary."""
        return self._ids.get(token, self.unk_id)

    @property
    def pad_id(self) -> int:
        """What stands after the words of a row; padding is told by document ids, not by this."""
        return 0

    @property
    def bos_id(self) -> int:
        """Id of `<S>`."""
        return SPECIAL_WORDS.index(BOS)

    @property
    def eos_id(self) -> int:
        """Id of `</S>`."""
        return SPECIAL_WORDS.index(EOS)

    @property
    def unk_id(self) -> int:
        """Id of `<UNK>`."""
        return SPECIAL_WORDS.index(UNK)

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Ids of `<S>`, `</S>` and `<UNK>`."""
        return tuple(range(len(SPECIAL_WORDS)))

    @property
    def bos_characters(self) -> np.ndarray:
        """What `<S>` is read as: int32 [max_characters]."""
        return sentence_characters(self.max_characters)[0]

    @property
    def eos_characters(self) -> np.ndarray:
        """What `</S>` is read as: int32 [max_characters]."""
        return sentence_characters(self.max_characters)[1]

    @property
    def word_start_table(self) -> np.ndarray:
        """Every token starts a word: bool [vocabulary], all True."""
        return np.ones(len(self._words), bool)

    @property
    def word_bounds(self) -> WordBounds:
        """Every token is a word."""
        return WordBounds.of_starts(self.word_start_table)

    @property
    def piece_texts(self) -> list[bytes]:
        """The bytes of each word; spaces between words are in none."""
        return [word.encode() for word in self._words]

    @property
    def settings(self) -> dict:
        """What makes this tokenizer again, next to its vocabulary."""
        own = {"lowercase": self.lowercase, "max_characters": self.max_characters}
        return {**own, **self._normalization.settings}

    @property
    def digest(self) -> str:
        """SHA-256 over vocabulary, settings and the normalisation table, in hex."""
        content = ["words", self.get_vocabulary(), self.settings, characters.digest()]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def get_config(self) -> dict:
        """Returns the settings, vocabulary included."""
        config = super().get_config()
        del config["dtype"]
        return {**config, "vocabulary": self.get_vocabulary(), **self.settings}

    def __reduce__(self):
        return type(self), (self.get_vocabulary(), *self.settings.values())


def build_word_vocabulary(
    word_counts: Mapping[str, int], vocabulary_size: int, min_frequency: int = 1
) -> list[str]:
    """Returns the most frequent words by descending count, the three special ones first.

    Of words that occur equally often, the lexicographically greater one comes first, as in
    `train_wordpiece`.

    Args:
        word_counts: Words, as `count_words` makes them, and how often each occurs.
        vocabulary_size: Words asked for, special ones included.
        min_frequency: Of a word.

    Example:

    >>> build_word_vocabulary({"cat": 2, "the": 5, "dog": 2, "elk": 1}, 6)
    ['<S>', '</S>', '<UNK>', 'the', 'dog', 'cat']
    """
    frequent = [word for word, count in word_counts.items() if count >= min_frequency]
    frequent = sorted(set(frequent) - set(SPECIAL_WORDS), reverse=True)
    ordered = sorted(frequent, key=lambda word: -word_counts[word])
    return [*SPECIAL_WORDS, *ordered[: max(vocabulary_size - len(SPECIAL_WORDS), 0)]]
