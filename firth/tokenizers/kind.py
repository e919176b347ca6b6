"""The facts that every kind of tokenizer states."""

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.recipes.tokenizers.chat_template import ChatTemplate

WordCounter = Callable[[Sequence[str]], Mapping[str, int]]


class PieceBytes(NamedTuple):
    """The bytes that each piece writes, in the order of the ids; None for special pieces and sentinels.

    Attributes:
        at_start: Bytes of a piece at the start of a text.
        after: Bytes of a piece after another one, or where a text continues its prompt.
    """

    at_start: tuple[bytes | None, ...]
    after: tuple[bytes | None, ...]


class TokenizerKind(abc.ABC):
    """The facts that callers ask a tokenizer for, so that they need not know its kind.

    Attributes:
        kind: Name of the kind in recipes and on disk.
        max_characters: Most characters of a token that a model reads; 0 if tokens are read by their ids.
        keeps_spaces: True if a space is a part of the token after it, so that any text comes back.
        mask_token: Piece for a hidden word; None if the tokenizer has no such piece.
        extra_file_names: Names of the files that a saved tokenizer has next to its vocabulary and settings.
        chat_template: How the turns of a dialogue are written; None if the tokenizer does not say it.
        special_texts: Special pieces that are read as such where they are typed in a text.
        extra_files: Contents of the files of `extra_file_names`, by name.
    """

    kind: ClassVar[str]
    max_characters: int = 0
    keeps_spaces: ClassVar[bool] = False
    mask_token: str | None = None
    extra_file_names: ClassVar[tuple[str, ...]] = ()
    extra_files: ClassVar[Mapping[str, bytes]] = {}
    chat_template: ChatTemplate | None = None
    special_texts: tuple[str, ...] = ()

    @property
    def digest_of_ids(self) -> str:
        """The digest without the template, on which no id of a text depends."""
        return str(self.digest)  # type: ignore[attr-defined]

    @classmethod
    @abc.abstractmethod
    def word_counter(cls, config: Any) -> WordCounter:
        """Returns a function from texts, in one form already, to how often each word occurs in them.

        Words are what encoding splits texts into. Workers get the function by pickle, and load what it needs:
        a function of `firth.tokenizers.training.counting`, which does without KerasHub.

        Args:
            config: Tokenizer of the recipe.
        """

    @classmethod
    @abc.abstractmethod
    def train(
        cls, word_counts: Mapping[str, int], config: Any, normalization: Sequence[Sequence[str]] = ()
    ) -> Any:
        """Returns a tokenizer that was trained on word counts.

        Args:
            word_counts: Counts of words, as a `word_counter` returns them.
            config: Tokenizer of the recipe.
            normalization: Steps that bring text to one form before all else.
        """

    @classmethod
    def restored(cls, pieces: Sequence[str], files: Mapping[str, bytes], settings: Mapping[str, Any]) -> Any:
        """Returns the tokenizer that was saved.

        Args:
            pieces: Vocabulary, in the order of the ids.
            files: Contents of the files of `extra_file_names`, by name.
            settings: Settings of the tokenizer.
        """
        return cls(pieces, **settings)  # type: ignore[call-arg]

    @property
    @abc.abstractmethod
    def piece_bytes(self) -> PieceBytes:
        """The bytes that each piece writes: joined, they are the text of `detokenize`."""

    @abc.abstractmethod
    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> bytes:
        """Returns the text of ids as `detokenize` writes it, within microseconds, without TensorFlow.

        Args:
            ids: The ids.
            after: Ids of a text that they continue: its own text is left out.
        """

    @property
    def sentinel_ids(self) -> npt.NDArray[Any]:
        """Ids of `<extra_id_0>`, `<extra_id_1>`, ...: int32 [sentinels]; none of a vocabulary of words."""
        return np.zeros([0], np.int32)

    @property
    def recipe_settings(self) -> Mapping[str, Any]:
        """The settings that the recipe of such a tokenizer has too."""
        return {}

    @property
    def special_pieces(self) -> tuple[str, ...]:
        """Names of the special pieces, in the order of `special_ids`."""
        return tuple(self.id_to_token(each) for each in self.special_ids)  # type: ignore[attr-defined]

    @classmethod
    def as_word_piece(cls, piece: str) -> str:
        """Returns a piece as WordPiece writes it, for people: `##` before a piece inside a word.

        Args:
            piece: Piece as the vocabulary has it.
        """
        return piece

    def tokens_and_words(self, texts: Sequence[str]) -> tuple[tf.RaggedTensor, tf.RaggedTensor | None]:
        """Returns the ids of texts, int32 [batch, (tokens)], and the words that the tokens are, or None.

        Args:
            texts: Texts, in one form already.
        """
        return self.tokenize(texts, normalized=True), None  # type: ignore[attr-defined]

    def call(
        self, inputs: tf.Tensor | str | Sequence[str], training: bool | None = None
    ) -> tf.RaggedTensor | tf.Tensor:
        """Returns the same as `tokenize`.

        Args:
            inputs: Texts, string [batch] or string [].
            training: Not used.
        """
        return self.tokenize(inputs)  # type: ignore[attr-defined]

    def get_config(self) -> dict[str, Any]:
        """Returns the settings, vocabulary included."""
        config = super().get_config()  # type: ignore[misc]
        del config["dtype"]
        return {**config, "vocabulary": self.get_vocabulary(), **self.settings}  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        made = functools.partial(type(self), **self.settings)  # type: ignore[attr-defined]
        return made, (self.get_vocabulary(),)  # type: ignore[attr-defined]
