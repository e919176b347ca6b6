"""Models that read features by their names: they are checked, and known when a model is exported."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import keras

from firth import features as names
from firth.layers.elements.layer import inner_layers
from firth.layers.elements.types import Tensor
from firth.recipes.base.errors import suggest

Specs = dict[str, keras.layers.InputSpec]
# Names that features have, whatever reads them.
_KNOWN = frozenset(value for key, value in vars(names).items() if key.isupper() and isinstance(value, str))


class MissingFeatureError(ValueError):
    """Features without one that a model reads."""


class FeaturesModel(keras.Model):
    """Base of models that are called with a dict of features.

    Features that lack one that the model reads are refused by its name. `export` serves features of any batch
    and length, whether or not the model has been called.
    """

    @property
    def feature_specs(self) -> Specs:
        """Shapes, with None for the batch and for lengths, and dtypes of the features that a call needs."""
        raise NotImplementedError

    def __call__(self, features: Mapping[str, Tensor], *args: Any, **kwargs: Any) -> Any:
        """Calls the model; see `call`.

        Args:
            features: Features by their names.
            *args: Arguments of `call`.
            **kwargs: Keywords of `call`.

        Raises:
            MissingFeatureError: if a feature is missing, with those that are there and the nearest.
        """
        kind = type(self).__name__
        if not isinstance(features, Mapping):
            needed = ", ".join(self.feature_specs)
            raise MissingFeatureError(
                f"{kind}: features are a dict of tensors by name, of {needed}; got {type(features).__name__}"
            )
        for name in self.feature_specs:
            if name not in features:
                raise _missing(kind, name, features)
        return super().__call__(features, *args, **kwargs)

    def _all_are_built(self) -> None:
        """Marks each layer as built, as its weights are: Keras calls a model that has others to build it."""
        for layer in inner_layers(self, keras.layers.Layer):
            if not layer.built:
                layer.built = True

    def export(
        self,
        filepath: str | os.PathLike[str],
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        input_signature: Any = None,
        **kwargs: Any,
    ) -> None:
        """Writes the model for inference, as `keras.Model.export` does.

        Args:
            filepath: Path of the exported model.
            format: Name of a format of Keras.
            verbose: Whether Keras prints a summary.
            input_signature: Shapes and dtypes of the features; None for `feature_specs`.
            **kwargs: Other keywords of `keras.Model.export`.
        """
        if not self.built:
            self.build()
        signature = [self.feature_specs] if input_signature is None else input_signature
        super().export(filepath, format=format, verbose=verbose, input_signature=signature, **kwargs)


def token_specs(*names: str) -> Specs:
    """Returns the specs of features with a number for each token of a row.

    Example:

    >>> token_specs("token_ids")["token_ids"].shape
    (None, None)
    """
    return {name: keras.layers.InputSpec(shape=(None, None), dtype="int32") for name in names}


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
        raise _missing(kind, name, features) from error


def _missing(kind: str, name: str, features: Mapping[str, Any]) -> MissingFeatureError:
    given = ", ".join(map(str, features)) or "none"
    hint = suggest(name, map(str, features)) if features else ""
    near = f"; {hint}" if hint.startswith("did you mean") else ""
    return MissingFeatureError(f"{kind}: the features have no {name!r}; they have {given}{near}")
