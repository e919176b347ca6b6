"""Models that read features by their names: they are checked, and known when a model is exported."""

import os
from collections.abc import Mapping
from typing import Any

import keras

from firth.features import SEGMENT_IDS
from firth.layers.elements.layer import inner_layers
from firth.layers.elements.types import Tensor
from firth.models.missing_features import MissingFeatureError as MissingFeatureError, completed, missing

Specs = dict[str, keras.layers.InputSpec]


class FeaturesModel(keras.Model):
    """Base of models that are called with a dict of features.

    Features that a call leaves out and that follow from its tokens are filled in; see `complete`. Without
    another that the model reads they are refused by its name. `export` serves features of any batch and
    length, whether or not the model has been called.
    """

    @property
    def feature_specs(self) -> Specs:
        """Shapes, with None for the batch and for lengths, and dtypes of the features that it reads."""
        raise NotImplementedError

    def complete(self, features: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Returns features with those that follow from the tokens, where they are left out.

        A row without `document_ids` holds one document. Its padding is where `padding_mask`, bool or int
        [batch, length], is false, and where the Keras mask of `token_ids` is, if they have one; without both,
        every token counts as real. `position_ids` begin with 0 at the first token of each document, and
        `segment_ids` are zeros. The same holds for the features of a decoder, whose mask is
        `decoder_padding_mask`. A mask next to `document_ids` hides more tokens. Features with all of these
        are returned as they are.

        Args:
            features: Features by their names, at least `token_ids`, int [batch, length], or `characters`.

        Raises:
            MissingFeatureError: for a feature whose name is that of one left out, misspelt; and for
                `document_ids` of an encoder or a decoder alone.
            ValueError: for tokens or a mask of another shape.
        """
        return completed(type(self).__name__, features, SEGMENT_IDS in self.feature_specs)

    def __call__(self, features: Mapping[str, Tensor], *args: Any, **kwargs: Any) -> Any:
        """Calls the model; see `call`.

        Args:
            features: Features by their names.
            *args: Arguments of `call`.
            **kwargs: Keywords of `call`.

        Raises:
            MissingFeatureError: if a feature is missing that does not follow from others, with those that are
                there and the nearest.
        """
        kind = type(self).__name__
        if not isinstance(features, Mapping):
            needed = ", ".join(self.feature_specs)
            raise MissingFeatureError(
                f"{kind}: features are a dict of tensors by name, of {needed}; got {type(features).__name__}"
            )
        features = self.complete(features)
        for name in self.feature_specs:
            if name not in features:
                raise missing(kind, name, features)
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
