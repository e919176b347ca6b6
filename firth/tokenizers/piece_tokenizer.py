"""The base of tokenizers of pieces: KerasHub's interface, and the ids of special pieces."""

import abc
import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import keras_hub
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.recipes.tokenizers.chat_template import ChatTemplate
from firth.tokenizers.graph.special_pieces import SpecialPieces
from firth.tokenizers.graph.text_normalization import TextNormalization
from firth.tokenizers.graph.vocabulary import Vocabulary
from firth.tokenizers.graph.word_bounds import WordBounds
from firth.tokenizers.kind import PieceBytes, TokenizerKind

# Rows that published vocabularies keep free.
_UNUSED = re.compile(r"[\[<]unused[_ ]?\d+[\]>]", re.IGNORECASE)

Specials = SpecialPieces | Mapping[str, Any] | None


class PieceTokenizer(TokenizerKind, keras_hub.tokenizers.Tokenizer):
    """Base of the tokenizers of pieces: text to ids and back.

    It works eagerly, in `tf.function`, in `tf.data`, and inside an exported SavedModel, which then needs
    nothing but tensorflow and tensorflow-text: the vocabulary is a constant of the graph.

    Args:
        vocabulary: Pieces in the order of their ids. Special pieces are found by name. So are sentinels,
            special pieces that replace spans (Raffel et al. 2019, section 3.1.4): a vocabulary with three
            of them ends with `<extra_id_2> <extra_id_1> <extra_id_0>`.
        normalization: Steps that bring text to one form before all else, as `TextNormalization` takes them.
        specials: Special pieces by their roles; None for `[PAD] [UNK] [CLS] [SEP] [MASK]`.
        chat_template: How the turns of a dialogue are written; None if nothing says it.
        special_texts: Special pieces that are read as such where they are typed in a text; any other is
            ordinary text, though it has the name of a special piece.
        **kwargs: Arguments of `keras_hub.tokenizers.Tokenizer`, such as `name`.

    Raises:
        ValueError: for a vocabulary with duplicates, without special pieces, or with sentinels elsewhere, or
            for a name in `special_texts` that is not a special piece, with the nearest.
    """

    kernel: Any
    """Module that encodes; an exported module has to keep a reference to it."""
    word_bounds: WordBounds
    """Bounds of words, as `word_starts` reads them."""
    _strips_first_space: ClassVar[bool] = True

    def __init__(
        self,
        vocabulary: Sequence[str],
        normalization: Sequence[Sequence[str]] = (),
        specials: Specials = None,
        chat_template: ChatTemplate | Mapping[str, Any] | None = None,
        special_texts: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"dtype": "int32", **kwargs})
        self.chat_template = None if chat_template is None else ChatTemplate.of(chat_template)
        self._vocabulary = Vocabulary.of(vocabulary, SpecialPieces.of(specials))
        self._normalization = TextNormalization(normalization)
        self.special_texts = self._vocabulary.check_special(special_texts)
        for role, piece in self.specials.by_role.items():
            self._add_special_token(piece, f"{role}_token")

    def _keep_rendered(self, texts: Sequence[bytes]) -> None:
        """Makes a constant of what `detokenize` writes for each piece."""
        unwritten = self.specials.unwritten
        rendered = [b"" if piece in unwritten else text for piece, text in zip(self.get_vocabulary(), texts)]
        with tf.init_scope(), tf.device("CPU"):
            self._rendered = tf.constant(rendered)

    def _decode(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """Returns the texts of int [batch, pieces], dense or ragged, or int [pieces]."""
        joined = tf.strings.reduce_join(tf.gather(self._rendered, ids), axis=-1)
        return tf.strings.regex_replace(joined, r"\A ", "") if self._strips_first_space else joined

    @functools.cached_property
    def _texts(self) -> list[bytes]:
        """Text of each piece as `detokenize` writes it inside a text."""
        texts: list[bytes] = self._rendered.numpy().tolist()
        return texts

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> bytes:  # noqa: D102
        joined = b"".join(map(self._texts.__getitem__, ids))
        is_first = self._strips_first_space and not any(map(self._texts.__getitem__, after))
        return joined.removeprefix(b" ") if is_first else joined

    def tokenize(
        self,
        inputs: tf.Tensor | str | Sequence[str],
        normalized: bool = False,
        specials: Sequence[str] | None = None,
    ) -> tf.RaggedTensor | tf.Tensor:
        """Returns the ids of texts, without a special piece before or after them.

        The name of a special piece, such as `[MASK]`, is ordinary text where somebody typed it.

        Args:
            inputs: Texts, string [batch] or string [], tensors or Python strings.
            normalized: True if the texts have their one form already, as the corpus's documents have, or are
                parts of such texts.
            specials: Special pieces that are read as such where they are typed; None for `special_texts`.

        Returns:
            int32 [batch, (pieces)], ragged; int32 [pieces] for a single string.

        Raises:
            TypeError: for anything but strings.
            ValueError: for more than one dimension, or a name that is not a special piece.
        """
        dtype = getattr(inputs, "dtype", tf.string)
        if dtype != tf.string and not isinstance(inputs, np.ndarray):
            raise TypeError(f"tokenize reads strings, got {dtype}")
        text = tf.convert_to_tensor(inputs, tf.string)
        if text.shape.rank not in (0, 1):
            raise ValueError(f"tokenize reads string [batch] or string [], got the shape {text.shape}")
        with tf.device("CPU"):
            batch = text[tf.newaxis] if text.shape.rank == 0 else text
            asked = self.special_texts if specials is None else self._vocabulary.check_special(specials)
            ids = self.kernel(batch if normalized else self._normalization(batch), asked=asked)
            return ids.flat_values if text.shape.rank == 0 else ids

    def tokenize_parts(self, texts: tf.Tensor, begins: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of parts of texts, in which all names of special pieces are ordinary text.

        Args:
            texts: Texts, string [batch].
            begins: Whether each begins a text, bool [batch]; one that continues another gets no space in
                front where the tokenizer puts one.

        Returns:
            int32 [batch, (pieces)], ragged, without any special piece but that for unknown text.
        """
        with tf.device("CPU"):
            return self.kernel(self._normalization(texts), begins)

    def tokenize_words(self, words: tf.Tensor, after_space: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of words that were cut out of texts, each as its text has it.

        Args:
            words: Words, string [words].
            after_space: Whether there is a space before each, bool [words].

        Returns:
            int32 [words, (pieces)].
        """
        with tf.device("CPU"):
            return self._encode_words(self._normalization(words), after_space)

    def _encode_words(self, words: tf.Tensor, after_space: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of string [words]; kinds whose pieces hold the space before a word say how."""
        return self.kernel(words, asked=self.special_texts)

    def detokenize(self, inputs: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """Returns the texts of ids.

        Padding is skipped wherever it occurs, if its piece has no other role. The other special pieces are
        written by their name, that for unknown text included.

        Args:
            inputs: Ids, int [batch, pieces], dense or ragged, or int [pieces].

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
            return self._decode(inputs)

    def get_vocabulary(self) -> list[str]:
        """Returns the pieces in the order of their ids."""
        return list(self._vocabulary.pieces)

    def vocabulary_size(self) -> int:
        """Returns the number of pieces."""
        return len(self._vocabulary.pieces)

    def id_to_token(self, id: int) -> str:
        """Returns the piece of an id.

        Args:
            id: Id of a piece.

        Raises:
            ValueError: if the id is out of range.
        """
        return self._vocabulary.piece_of(id)

    def token_to_id(self, token: str) -> int:
        """Returns the id of a piece.

        Args:
            token: Piece of the vocabulary.

        Raises:
            ValueError: if there is no such piece, with the nearest one.
        """
        return self._vocabulary.id_of(token)

    @property
    def specials(self) -> SpecialPieces:
        """Special pieces by their roles."""
        return self._vocabulary.specials

    @property
    def normalization_steps(self) -> tuple[tuple[str, ...], ...]:
        """Steps that bring text to one form before all else."""
        return self._normalization.steps

    def _id_of_role(self, role: str) -> int:
        if role not in self.specials.by_role:
            raise self.specials.missing(role)
        return self._vocabulary.ids[self.specials.by_role[role]]

    @property
    def pad_id(self) -> int:
        """Id of the piece after the text of a row; document ids mark padding, not this id."""
        return self._id_of_role("pad")

    @property
    def unk_id(self) -> int:
        """Id of the piece for unknown text; a `MissingPieceError` if no piece does that."""
        return self._id_of_role("unk")

    @property
    def cls_id(self) -> int:
        """Id of the piece before a text, as `[CLS]` is; a `MissingPieceError` if no piece does that."""
        return self._id_of_role("cls")

    @property
    def sep_id(self) -> int:
        """Id of the piece after a text, as `[SEP]` is."""
        return self._id_of_role("sep")

    @property
    def mask_id(self) -> int:
        """Id of the piece for a hidden word, as `[MASK]` is; a `MissingPieceError` if no piece does that."""
        return self._id_of_role("mask")

    @property
    def sentinel_ids(self) -> npt.NDArray[Any]:
        """Ids of `<extra_id_0>`, `<extra_id_1>`, ...: int32 [sentinels], descending from the last id."""
        return self.vocabulary_size() - 1 - np.arange(self._vocabulary.sentinels, dtype=np.int32)

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Ids of the special pieces, each once: pad, unk, cls, sep, mask, others, and then the sentinels."""
        return tuple(map(self._vocabulary.ids.__getitem__, self._vocabulary.special_pieces))

    @property
    def ordinary_ids(self) -> list[int]:
        """Ids of the pieces that words usually fall into, in their order.

        Special pieces, placeholders that no text leads to, such as `[unused0]`, and pieces of a single byte
        are left out.
        """
        special = set(self.special_ids)
        pieces = enumerate(self._vocabulary.pieces)
        return [number for number, piece in pieces if number not in special and not self._is_filler(piece)]

    @classmethod
    def _is_filler(cls, piece: str) -> bool:
        """Returns whether a piece is there so that a row is, or so that any text can be written."""
        return _UNUSED.fullmatch(piece) is not None

    @property
    def piece_texts(self) -> list[bytes]:
        """Bytes of each piece's text, with the space before a word if the piece has one.

        The text of a special piece is its name.
        """
        special = set(self.special_ids)
        return [
            piece.encode() if index in special else self._bytes_of(piece)
            for index, piece in enumerate(self._vocabulary.pieces)
        ]

    @property
    def piece_bytes(self) -> PieceBytes:
        """The bytes that each piece writes, as `detokenize` writes them.

        Example:

        >>> from firth.tokenizers import WordPieceTokenizer
        >>> tokenizer = WordPieceTokenizer("[PAD] [UNK] [CLS] [SEP] [MASK] fox ##es".split())
        >>> tokenizer.piece_bytes.at_start[4:], tokenizer.piece_bytes.after[5:]
        ((None, b'fox', b'es'), (b' fox', b'es'))
        """
        special = set(self.special_ids)
        after = [None if id in special else text for id, text in enumerate(self._texts)]
        if not self._strips_first_space:
            return PieceBytes(tuple(after), tuple(after))
        at_start = [None if text is None else text.removeprefix(b" ") for text in after]
        return PieceBytes(tuple(at_start), tuple(after))

    @staticmethod
    @abc.abstractmethod
    def _bytes_of(piece: str) -> bytes:
        """Returns the bytes of an ordinary piece's text."""

    @property
    def word_start_table(self) -> npt.NDArray[Any]:
        """Pieces that start a word in any place, special ones included: bool [vocabulary]."""
        return self.word_bounds.starts

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments that make this tokenizer again, next to its files."""
        return {
            **self._normalization.settings,
            **self.specials.settings,
            **self._template_settings,
            **self._special_texts_settings,
        }

    @property
    def _special_texts_settings(self) -> dict[str, Any]:
        return {"special_texts": list(self.special_texts)} if self.special_texts else {}

    @property
    def _template_settings(self) -> dict[str, Any]:
        if self.chat_template is None:
            return {}
        return {"chat_template": self.chat_template.model_dump(mode="json", exclude_defaults=True)}

    def with_chat_template(self, template: ChatTemplate | None) -> Any:
        """Returns the same tokenizer, kept with another template.

        Args:
            template: How the turns of a dialogue are written; None for a tokenizer that does not say it.
        """
        settings = {name: each for name, each in self.settings.items() if name != "chat_template"}
        made_with = {**settings, "chat_template": template}
        return type(self).restored(self.get_vocabulary(), self.extra_files, made_with)

    @property
    def digest_of_ids(self) -> str:
        """The digest without the template, on which no id of a text depends."""
        return self.digest if self.chat_template is None else str(self.with_chat_template(None).digest)

    @property
    def _digested(self) -> list[Any]:
        """Settings that all kinds add to their digest: none, if none is set."""
        of_template = self._template_settings.values()
        asked = self._special_texts_settings.values()
        return [*self._normalization.steps, *self.specials.settings.values(), *of_template, *asked]

    @property
    @abc.abstractmethod
    def digest(self) -> str:
        """SHA-256, in hex, over everything that ids depend on."""


def digest_of(*content: Any) -> str:
    """Returns the SHA-256, in hex, of values that JSON can hold."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
