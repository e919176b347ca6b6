"""WordPiece with BERT's normalisation, in the TensorFlow graph."""

import hashlib
import json
from collections.abc import Sequence

import keras_hub
import numpy as np
import tensorflow as tf

from firth.tokenizers import characters
from firth.tokenizers.kernel import WordPieceKernel
from firth.tokenizers.vocabulary import PAD, SPECIAL_PIECES, SUFFIX_MARK, Vocabulary

# A special piece typed in text is one word of this many bytes at most while it goes through the kernel.
_MIN_WORD_CHARACTERS = 8


class WordPieceTokenizer(keras_hub.tokenizers.Tokenizer):
    """Text to ids of word pieces and back (Devlin et al. 2018, section 3; Schuster and Nakajima 2012).

    Text is cleaned of control characters, lower-cased and stripped of accents (if `lowercase`), split at
    spaces, around punctuation and around CJK ideographs, and each word is covered from the left by the
    longest pieces there are (Song et al. 2021, "Fast WordPiece Tokenization", which is the kernel below). A
    word that cannot be covered, or that is longer than `max_word_characters` after normalisation, becomes
    `[UNK]`.

    Ids equal those of Hugging Face's `BertTokenizerFast` with the same vocabulary, for every character of
    Unicode. A special piece typed in text, such as `[MASK]`, is that piece; `[mask]` is three words. Bytes
    that are not valid UTF-8 are dropped, so the ids are those of `text.decode("utf-8", errors="ignore")`. One
    difference is known: two spacing marks that both have a combining class, in an order that is not canonical
    (a Balinese virama behind a Hangul tone mark), are not put in order when lower-casing. No orthography has
    that.

    Works eagerly, in `tf.function`, in `tf.data`, and inside an exported SavedModel, which then needs nothing
    but tensorflow and tensorflow-text: the vocabulary is a constant of the graph. Pickles by its settings.

    Args:
        vocabulary: Pieces in the order of their ids; those that go on inside a word start with `##`. The five
            special pieces `[PAD] [UNK] [CLS] [SEP] [MASK]` are found by name. So are sentinels, special
            pieces that stand for spans (Raffel et al. 2019, section 3.1.4): a vocabulary with three of them
            ends with `<extra_id_2> <extra_id_1> <extra_id_0>`.
        lowercase: Lower-case and strip accents.
        max_word_characters: At least 8.

    Raises:
        ValueError: for a vocabulary with duplicates, without special pieces, or with sentinels elsewhere.

    Example:

    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "qu", "##ick", "fox", "."]
    >>> tokenizer = WordPieceTokenizer(pieces)
    >>> tokenizer.tokenize(["The quick [MASK].", "Zoë"]).to_list()
    [[5, 6, 7, 4, 9], [1]]
    >>> tokenizer.detokenize([[5, 6, 7, 4, 9, 0]]).numpy()[0]
    b'the quick [MASK] .'
    """

    def __init__(
        self, vocabulary: Sequence[str], lowercase: bool = True, max_word_characters: int = 100, **kwargs
    ):
        if max_word_characters < _MIN_WORD_CHARACTERS:
            raise ValueError(f"max_word_characters: {max_word_characters} is below {_MIN_WORD_CHARACTERS}")
        super().__init__(**{"dtype": "int32", **kwargs})
        self._vocabulary = Vocabulary.of(vocabulary)
        self.lowercase = lowercase
        self.max_word_characters = max_word_characters
        for special in SPECIAL_PIECES:
            self._add_special_token(special, f"{special.strip('[]').lower()}_token")
        self._kernel = WordPieceKernel(vocabulary, lowercase, max_word_characters, self._vocabulary.sentinels)
        with tf.init_scope(), tf.device("CPU"):
            self._rendered = tf.constant([_render(piece) for piece in vocabulary])

    def tokenize(self, inputs) -> tf.RaggedTensor | tf.Tensor:
        """Returns the ids of texts, without `[CLS]` and `[SEP]`.

        Args:
            inputs: string [batch] or string [], tensors or Python strings.

        Returns:
            int32 [batch, (pieces)], ragged; int32 [pieces] for a single string.

        Raises:
            TypeError: for anything but strings.
            ValueError: for more than one dimension.
        """
        if getattr(inputs, "dtype", tf.string) != tf.string and not isinstance(inputs, np.ndarray):
            raise TypeError(f"tokenize reads strings, got {inputs.dtype}")
        text = tf.convert_to_tensor(inputs, tf.string)
        if text.shape.rank not in (0, 1):
            raise ValueError(f"tokenize reads string [batch] or string [], got the shape {text.shape}")
        with tf.device("CPU"):
            if text.shape.rank == 0:
                return self._kernel(text[tf.newaxis]).flat_values
            return self._kernel(text)

    def call(self, inputs, training=None):
        """Tokenizes: the same as `tokenize`."""
        del training
        return self.tokenize(inputs)

    def detokenize(self, inputs) -> tf.Tensor:
        """Returns the texts of ids: words with one space between, pieces with `##` joined to what precedes.

        Padding is skipped wherever it stands. The other special pieces are words by their name, `[UNK]`
        included, so that tokenizing the result gives the same ids, less the padding.

        Args:
            inputs: int [batch, pieces], dense or ragged, or int [pieces].

        Returns:
            string [batch], or string [].

        Raises:
            tf.errors.InvalidArgumentError: for an id that is out of range.
        """
        if not isinstance(inputs, tf.RaggedTensor | tf.Tensor):
            inputs = tf.ragged.constant(
                np.asarray(inputs).tolist() if isinstance(inputs, np.ndarray) else inputs, tf.int32
            )
        with tf.device("CPU"):
            joined = tf.strings.reduce_join(tf.gather(self._rendered, inputs), axis=-1)
            return tf.strings.regex_replace(joined, r"\A ", "")

    def get_vocabulary(self) -> list[str]:
        """Returns the pieces in the order of their ids."""
        return list(self._vocabulary.pieces)

    def vocabulary_size(self) -> int:
        """Returns the number of pieces."""
        return len(self._vocabulary.pieces)

    def id_to_token(self, id: int) -> str:
        """Returns the piece of an id; raises ValueError where it is out of range."""
        return self._vocabulary.piece_of(id)

    def token_to_id(self, token: str) -> int:
        """Returns the id of a piece; raises ValueError, with the nearest piece, where there is none."""
        return self._vocabulary.id_of(token)

    @property
    def pad_id(self) -> int:
        """Id of `[PAD]`."""
        return self.pad_token_id

    @property
    def unk_id(self) -> int:
        """Id of `[UNK]`."""
        return self.unk_token_id

    @property
    def cls_id(self) -> int:
        """Id of `[CLS]`."""
        return self.cls_token_id

    @property
    def sep_id(self) -> int:
        """Id of `[SEP]`."""
        return self.sep_token_id

    @property
    def mask_id(self) -> int:
        """Id of `[MASK]`."""
        return self.mask_token_id

    @property
    def sentinel_ids(self) -> np.ndarray:
        """Ids of `<extra_id_0>`, `<extra_id_1>`, ...: int32 [sentinels], descending from the last id."""
        return self.vocabulary_size() - 1 - np.arange(self._vocabulary.sentinels, dtype=np.int32)

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Ids of `[PAD] [UNK] [CLS] [SEP] [MASK]`, in this order, and of the sentinels behind them."""
        return (*(self.token_to_id(special) for special in SPECIAL_PIECES), *self.sentinel_ids.tolist())

    @property
    def word_start_table(self) -> np.ndarray:
        """Which pieces start a word, special ones included: bool [vocabulary]."""
        return np.array([not piece.startswith(SUFFIX_MARK) for piece in self._vocabulary.pieces])

    @property
    def settings(self) -> dict:
        """What makes this tokenizer again, beside its vocabulary."""
        return {"lowercase": self.lowercase, "max_word_characters": self.max_word_characters}

    @property
    def digest(self) -> str:
        """SHA-256 over vocabulary, settings and the normalisation table, in hex."""
        content = [
            "wordpiece",
            self.get_vocabulary(),
            self.lowercase,
            self.max_word_characters,
            characters.digest(),
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def get_config(self) -> dict:
        """Returns the settings, vocabulary included."""
        config = super().get_config()
        del config["dtype"]
        return {
            **config,
            "vocabulary": self.get_vocabulary(),
            "lowercase": self.lowercase,
            "max_word_characters": self.max_word_characters,
        }

    def __reduce__(self):
        return type(self), (self.get_vocabulary(), self.lowercase, self.max_word_characters)


def _render(piece: str) -> str:
    if piece == PAD:
        return ""
    return piece.removeprefix(SUFFIX_MARK) if piece.startswith(SUFFIX_MARK) else f" {piece}"
