"""A client of a model in memory: the answers of the SavedModel that it would be exported to."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy.typing as npt
import tensorflow as tf

from firth.serving.parameter import WITH_PARAMETERS
from firth.serving.saved_model import offered_signatures, text_functions
from firth.serving.served_model import Served
from firth.serving.signature import Signature
from firth.serving.signature_client import SignatureClient


class ModelClient(SignatureClient):
    """Asks the signatures of a model in memory, which are traced when they are first asked.

    Answers follow the model's weights. Additions that come later need another client.

    Args:
        served: Model with its tokenizer and its recipe.
        in_graph: False for a model of another engine, which has the hidden states alone, and no graph.
    """

    def __init__(self, served: Served, in_graph: bool = True) -> None:
        self.title = served.recipe.name
        self._served = served
        self._in_graph = in_graph

    @functools.cached_property
    def signatures(self) -> dict[str, Signature]:
        """The signatures on texts by name, the default one first."""
        offered = offered_signatures(self._served)
        if not self._in_graph:
            return {name: each for name, each in offered.items() if not each.reads_heads}
        if keras.backend.backend() == "tensorflow":
            return offered
        # Only the states of the encoder are computed by Keras; all else of them is TensorFlow's.
        return {name: each for name, each in offered.items() if name in _ON_ANY_BACKEND}

    @functools.cached_property
    def _functions(self) -> dict[str, Any]:
        if not self._in_graph:
            parts = self.signatures.items()
            return {name: functools.partial(each.function, self._served) for name, each in parts}
        if keras.backend.backend() != "tensorflow":
            model, tokenizer, recipe = self._served.model, self._served.tokenizer, self._served.recipe
            served = _OtherBackend(model, tokenizer, recipe)
            return {name: functools.partial(each.function, served) for name, each in self.signatures.items()}
        return text_functions(self._served, self.signatures)

    @functools.cached_property
    def _descriptions(self) -> Mapping[str, Any]:
        return {name: each.describe() for name, each in self.signatures.items()}

    @property
    def _names(self) -> Iterable[str]:
        return self.signatures

    def inputs(self, name: str) -> tuple[str, ...]:
        """Returns the names of a signature's inputs; empty if the model has no such signature.

        Args:
            name: Name of the signature.
        """
        signature = self.signatures.get(name.removesuffix(WITH_PARAMETERS))
        if signature is None:
            return ()
        return (*signature.inputs, *(signature.parameters if name.endswith(WITH_PARAMETERS) else ()))

    def _call(self, name: str, tensors: Mapping[str, tf.Tensor]) -> dict[str, npt.NDArray[Any]]:
        ordered = [tensors[each] for each in self.inputs(name)]
        outputs = self._functions[name](*ordered)
        return {key: value.numpy() for key, value in outputs.items()}


_ON_ANY_BACKEND = ("embed", "embed_tokens")


class _OtherBackend(Served):
    """A model where Keras does not run on TensorFlow, whose ops still split and pool texts."""

    def encoder_states(self, features: dict[str, tf.Tensor]) -> tf.Tensor:
        """Returns the encoder's hidden states of a row, float32 [batch, length, width]."""
        given = {name: each.numpy() for name, each in features.items()}
        return tf.constant(keras.ops.convert_to_numpy(super().encoder_states(given)), tf.float32)
