"""Features that a caller leaves out: those that follow from the tokens are filled in, others are named."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from firth import features as names
from firth.layers.elements.types import Tensor
from firth.recipes.base.errors import suggest

# Names that features have, whatever reads them.
_KNOWN = frozenset(value for key, value in vars(names).items() if key.isupper() and isinstance(value, str))


class MissingFeatureError(ValueError):
    """Features without one that a model reads."""


class _Side(NamedTuple):
    """Names of the features of one stack; the tokens are the first of `tokens` that is there."""

    tokens: tuple[str, ...]
    positions: str
    documents: str
    padding_mask: str
    segments: str | None = None

    def tokens_in(self, features: Mapping[str, Any]) -> str | None:
        return next((name for name in self.tokens if name in features), None)

    @property
    def names(self) -> tuple[str, ...]:
        optional = () if self.segments is None else (self.segments,)
        return (*self.tokens, self.positions, self.documents, self.padding_mask, *optional)

    def left_out(self, features: Mapping[str, Any], with_segments: bool) -> list[str]:
        """Returns the features that follow from the tokens, if there are tokens, and that are not there."""
        wanted = [self.positions, self.documents] + [self.segments or ""] * with_segments
        there = self.tokens_in(features) is not None
        return [name for name in wanted if there and name and name not in features]


_SIDES = (
    _Side(
        (names.TOKEN_IDS, names.CHARACTERS),
        names.POSITION_IDS,
        names.DOCUMENT_IDS,
        names.PADDING_MASK,
        names.SEGMENT_IDS,
    ),
    _Side(
        (names.DECODER_TOKEN_IDS,),
        names.DECODER_POSITION_IDS,
        names.DECODER_DOCUMENT_IDS,
        names.DECODER_PADDING_MASK,
    ),
)


@keras.saving.register_keras_serializable(package="firth")
class CompletedFeatures(keras.layers.Layer):
    """Features, and those that follow from their tokens: a layer, as Keras gives masks to layers alone.

    Args:
        with_segments: Whether there are to be segments.
        **kwargs: Keywords of `keras.layers.Layer`.

    Example:

    >>> made = CompletedFeatures()({"token_ids": np.ones((1, 3)), "padding_mask": np.array([[1, 1, 0]])})
    >>> np.array(made["document_ids"]).tolist(), np.array(made["position_ids"]).tolist()
    ([[1, 1, 0]], [[0, 1, 0]])
    """

    def __init__(self, with_segments: bool = False, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.with_segments = with_segments
        self.supports_masking = True

    def build(self, features_shape: Any = None) -> None:
        """Creates no weights."""

    def compute_mask(self, features: Any, previous_mask: Any) -> None:
        """None: documents say what the masks do."""

    def call(
        self, features: Mapping[str, Tensor], mask: Mapping[str, Tensor | None] | None = None
    ) -> dict[str, Tensor]:
        """Returns the features that are filled in, each int32 [batch, length].

        Args:
            features: Tokens of a side or two, and those features of it that are there.
            mask: Masks of the features, as Keras hands them on; only those of tokens are read.
        """
        made: dict[str, Tensor] = {}
        for side in _SIDES:
            tokens = side.tokens_in(features)
            if tokens is not None:
                made |= self._filled(side, features, (mask or {}).get(tokens))
        return made

    def _filled(self, side: _Side, features: Mapping[str, Tensor], mask: Tensor | None) -> dict[str, Tensor]:
        tokens = features[side.tokens_in(features) or ""]
        nothing = ops.zeros_like(tokens if len(tokens.shape) == 2 else tokens[:, :, 0], dtype="int32")
        given = features.get(side.documents)
        documents = nothing + 1 if given is None else ops.cast(given, "int32")
        left_out = side.left_out(features, self.with_segments)
        made = {name: nothing for name in left_out if name == side.segments}
        real = [
            ops.cast(each, "bool") for each in (mask, features.get(side.padding_mask)) if each is not None
        ]
        for each in real:
            documents = ops.where(each, documents, nothing)
        if side.positions in left_out:
            made[side.positions] = _positions(documents, one=given is None)
        return {**made, side.documents: documents}

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "with_segments": self.with_segments}


def completed(kind: str, features: Mapping[str, Tensor], with_segments: bool = False) -> Mapping[str, Tensor]:
    """Returns features with those that follow from their tokens; see `FeaturesModel.complete`.

    Args:
        kind: Name of the model, for errors.
    """
    if any(isinstance(value, list | tuple) for value in features.values()):
        features = {
            name: np.asarray(value) if isinstance(value, list | tuple) else value
            for name, value in features.items()
        }
    left_out = [name for side in _SIDES for name in side.left_out(features, with_segments)]
    masks = {side.padding_mask for side in _SIDES} & features.keys()
    if not left_out and not masks:
        return features
    unknown = [name for name in map(str, features) if name not in _KNOWN]
    for name in left_out if unknown else ():
        if suggest(name, unknown).startswith("did you mean"):
            raise missing(kind, name, features)
    _check_documents(kind, features)
    read = {name: value for name, value in features.items() if any(name in side.names for side in _SIDES)}
    for side in _SIDES:
        _check_shapes(kind, side, read)
    made = CompletedFeatures(with_segments)(read)
    return {**{name: value for name, value in features.items() if name not in masks}, **made}


def missing(kind: str, name: str, features: Mapping[str, Any]) -> MissingFeatureError:
    """Returns the error for a feature that is not there, with those that are there and the nearest."""
    given = ", ".join(map(str, features)) or "none"
    hint = suggest(name, map(str, features)) if features else ""
    near = f"; {hint}" if hint.startswith("did you mean") else ""
    return MissingFeatureError(f"{kind}: the features have no {name!r}; they have {given}{near}")


@contextlib.contextmanager
def naming_missing(kind: str, features: Mapping[str, Any]) -> Iterator[None]:
    """Turns the error for a feature that is looked up and not there into one that names it.

    Raises:
        MissingFeatureError: instead of `KeyError`.
    """
    try:
        yield
    except KeyError as error:
        name = error.args[0] if error.args else None
        if name in features or name not in _KNOWN:
            raise
        raise missing(kind, name, features) from error


def _positions(documents: Tensor, one: bool) -> Tensor:
    """Returns positions that begin with each document, 0 on padding, int32 [batch, length].

    Args:
        documents: int32 [batch, length], 0 on padding.
        one: Whether each row holds one document, within which padding is counted.
    """
    places = ops.cumsum(ops.ones_like(documents), axis=1) - 1
    real = ops.cast(ops.not_equal(documents, 0), "int32")
    if one:
        first = ops.expand_dims(ops.cast(ops.argmax(real, axis=1), "int32"), 1)
        return (places - first) * real
    # The places at which runs begin, sorted, are looked up by the number of each token's run.
    begins = ops.logical_or(ops.not_equal(documents, ops.roll(documents, 1, axis=1)), ops.equal(places, 0))
    run = ops.cumsum(ops.cast(begins, "int32"), axis=1) - 1
    starts = ops.sort(ops.where(begins, places, np.iinfo(np.int32).max), axis=1)
    return (places - ops.take_along_axis(starts, run, axis=1)) * real


def _check_documents(kind: str, features: Mapping[str, Any]) -> None:
    """Refuses documents of one side, as those of the other that they belong to are not known."""
    sides = [side for side in _SIDES if side.tokens_in(features) is not None]
    given = [side for side in sides if side.documents in features]
    for side in sides:
        if given and side not in given:
            raise missing(kind, side.documents, features)


def _check_shapes(kind: str, side: _Side, features: Mapping[str, Any]) -> None:
    tokens = side.tokens_in(features)
    if tokens is None:
        return
    axes = 3 if tokens == names.CHARACTERS else 2
    shape = np.shape(features[tokens])
    if len(shape) != axes:
        raise ValueError(f"{kind}: {tokens!r} has the shape {tuple(shape)}, but {axes} axes are read")
    for name in (side.padding_mask, side.documents):
        found = tuple(np.shape(features[name])) if name in features else tuple(shape[:2])
        known = all(None in pair or pair[0] == pair[1] for pair in zip(found, shape[:2]))
        if len(found) != 2 or not known:
            raise ValueError(
                f"{kind}: {name!r} has the shape {found}, and not that of {tokens!r}, {tuple(shape[:2])}"
            )
