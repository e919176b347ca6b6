"""SentencePiece, unigram and byte-pair encoding, in the TensorFlow graph."""

import base64
import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from firth.tokenizers.graph.sentence_piece_kernel import SentencePieceKernel
from firth.tokenizers.graph.sentencepiece_model import parse_model
from firth.tokenizers.graph.text_steps import Preparation
from firth.tokenizers.graph.vocabulary import META_SPACE, mark_suffix
from firth.tokenizers.graph.word_bounds import WordBounds
from firth.tokenizers.kind import WordCounter
from firth.tokenizers.piece_tokenizer import PieceTokenizer
from firth.tokenizers.training.counting import count_spaced_words
from firth.tokenizers.training.sentence_piece import train_sentencepiece

MODEL_FILE = "sentencepiece.model"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class SentencePieceTokenizer(PieceTokenizer):
    """Text to ids of SentencePiece's pieces and back (Kudo and Richardson 2018; Kudo 2018 for unigram).

    Normalisation is part of the model, and ids equal those of the sentencepiece package with the same model;
    if two readings are as likely, as in a run of one character, the graph's kernel may take the other one.
    Special pieces typed in text are ordinary text. Those that are asked for are pieces, and split the text:
    what is between two of them is read by itself. Spaces before them are left out. Bytes that are not UTF-8
    are read as U+FFFD.

    Decoded text keeps the changes of the normalisation: spaces are single, and no text begins with a
    space.

    Args:
        model: Model as `train_sentencepiece` returns it: with the five special pieces, of which `[UNK]` is
            the unknown one, and with sentinels at its end.
        lowercase: True if the model was trained to fold case.
        normalization: Steps before all else, as for `PieceTokenizer`; the model's own come after them.
        preparation: What is done to the text between special pieces, if it is not what the sentencepiece
            package does.
        **kwargs: Arguments of `keras_hub.tokenizers.Tokenizer`, such as `name`.

    Raises:
        ValueError: as for `PieceTokenizer`.

    Example:

    >>> from firth.tokenizers import train_sentencepiece
    >>> words = {"fox": 9, "foxes": 5, "the": 20, "box": 4}
    >>> tokenizer = SentencePieceTokenizer(train_sentencepiece(words, 24, "unigram"))
    >>> ids = tokenizer.tokenize("the foxes [MASK]", specials=["[MASK]"]).numpy().tolist()
    >>> ids[-1] == tokenizer.mask_id, tokenizer.detokenize(ids[:-1]).numpy()
    (True, b'the foxes')
    """

    kind = "sentencepiece"
    extra_file_names = (MODEL_FILE,)

    def __init__(
        self,
        model: bytes,
        lowercase: bool = False,
        normalization: Sequence[Sequence[str]] = (),
        preparation: Preparation | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.model, self.lowercase = bytes(model), lowercase
        pieces = [piece.piece for piece in parse_model(self.model).pieces]
        super().__init__(pieces, normalization, **kwargs)
        self.preparation = Preparation.of(preparation or Preparation.of_model(self.model))
        self.kernel = SentencePieceKernel(
            self.model,
            self.preparation,
            self._vocabulary.alone,
            self._vocabulary.after_space,
            self.specials.spaces_before,
        )
        self.word_bounds = WordBounds.of_texts(self.piece_texts, self.special_ids)
        self._keep_rendered(self.piece_texts)

    def _encode_words(self, words: tf.Tensor, after_space: tf.Tensor) -> tf.RaggedTensor:
        return self.kernel(words, after_space, self.special_texts)

    @classmethod
    def word_counter(cls, config: Any) -> WordCounter:  # noqa: D102
        return functools.partial(count_spaced_words, specials=config.special_texts)

    @classmethod
    def train(  # noqa: D102
        cls, word_counts: Mapping[str, int], config: Any, normalization: Sequence[Sequence[str]] = ()
    ) -> "SentencePieceTokenizer":
        model = train_sentencepiece(
            word_counts,
            config.vocabulary_size,
            config.model,
            config.sentinels,
            character_coverage=config.character_coverage,
            byte_fallback=config.byte_fallback,
            lowercase=config.lowercase,
        )
        return cls(model, config.lowercase, normalization, special_texts=config.special_texts)

    @classmethod
    def restored(  # noqa: D102
        cls, pieces: Sequence[str], files: Mapping[str, bytes], settings: Mapping[str, Any]
    ) -> "SentencePieceTokenizer":
        return cls(files[MODEL_FILE], **settings)

    @property
    def extra_files(self) -> Mapping[str, bytes]:  # type: ignore[override]
        """The model."""
        return {MODEL_FILE: self.model}

    @classmethod
    def as_word_piece(cls, piece: str) -> str:  # noqa: D102
        return mark_suffix(piece, piece.replace(META_SPACE, " "))

    @classmethod
    def _is_filler(cls, piece: str) -> bool:
        return _BYTE.fullmatch(piece) is not None or super()._is_filler(piece)

    @staticmethod
    def _bytes_of(piece: str) -> bytes:
        if byte := _BYTE.fullmatch(piece):
            return bytes([int(byte[1], 16)])
        return piece.replace(META_SPACE, " ").encode()

    @property
    def recipe_settings(self) -> dict[str, Any]:
        """The settings that the recipe of such a tokenizer has too."""
        return {"lowercase": self.lowercase}

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments that make this tokenizer again, next to its model."""
        return {**self.recipe_settings, **super().settings, **self._own_preparation}

    @property
    def _own_preparation(self) -> dict[str, Any]:
        if self.preparation == Preparation.of_model(self.model):
            return {}
        return {"preparation": self.preparation.settings}

    @property
    def digest(self) -> str:
        """SHA-256 over the model and the normalisation, in hex."""
        digested = [*self._digested, *self._own_preparation.values()]
        normalization = json.dumps(digested).encode() if digested else b""
        return hashlib.sha256(self.kind.encode() + self.model + normalization).hexdigest()

    def get_config(self) -> dict[str, Any]:
        """Returns the settings and, in base 64, the model."""
        config = super().get_config()
        del config["vocabulary"]
        return {**config, "model": base64.b64encode(self.model).decode()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "SentencePieceTokenizer":
        """Returns the tokenizer of `get_config`.

        Args:
            config: Settings and model, as `get_config` returns them.
        """
        return cls(**{**config, "model": base64.b64decode(config["model"])})

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), **self.settings), (self.model,)
