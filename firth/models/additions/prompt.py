"""Prompts: vectors before the embedded tokens of each text."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.elements.extensible_layer import Addition
from firth.layers.elements.layer import Layer
from firth.layers.elements.seeds import normal, seed_generator, uniform
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.addition_places import (
    TuningError,
    add_at_places,
    keywords_of,
    places_of,
    require_fit,
)
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.prompts import InputPromptMethod

# Number of pieces, from the first of a vocabulary, that prompts start from; see `Prompt.begin`.
_COMMON = 5000
# Prompts start uniform within this bound, where they do not start from pieces.
_BOUND = 0.5


class Prompt(Addition):
    """Vectors before the embedded tokens of each text.

    Lester et al. 2021, "The Power of Scale for Parameter-Efficient Prompt Tuning", section 2. They start
    uniform from -0.5 to 0.5 (section 3.2), or from embeddings of pieces.

    Example:

    >>> prompt = Prompt(length=3, width=4)
    >>> tuple(prompt({}).shape)
    (1, 3, 4)
    """

    def __init__(self, length: int, width: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)

    def build(self, features_shape: Any = None) -> None:
        """Creates `vectors` [length, width]."""
        self.vectors = self._weight("vectors", (self.length, self.width), uniform(_BOUND, self._generator))

    def _weight(self, name: str, shape: Shape, start: Any) -> keras.Variable:
        return self.add_weight(name=name, shape=shape, initializer=start, autocast=False)

    def call(self, features: Mapping[str, Tensor]) -> Tensor:
        """Returns the vectors, a float tensor [1, length, width]."""
        return ops.expand_dims(self.own(), 0)

    def own(self) -> Tensor:
        """Returns the vectors, a float tensor [length, width]."""
        return ops.convert_to_tensor(self.vectors)

    def take(self, other: Any) -> None:
        """Assigns the vectors of a prompt that was trained."""
        self.vectors.assign(other.own())

    def begin(self, model: BackboneWithHeads, tokenizer: Any, method: Any) -> None:
        """Assigns the token embeddings that the prompt starts from, if it starts from some.

        `method.start` says which: those of `method.text`, again and again where it is shorter than the
        prompt; or of pieces that are drawn by the run's seed from the first 5,000 of the vocabulary's
        `ordinary_ids`.
        """
        if method.start == "text":
            ids = np.asarray(tokenizer.tokenize(method.text)).reshape(-1)
            if not len(ids):
                raise TuningError(f"method.text: {method.text!r} has no tokens")
            ids = np.resize(ids, self.length)
        elif method.start == "vocabulary":
            usual = tokenizer.ordinary_ids[:_COMMON]
            seed = int(ops.convert_to_numpy(model.seed_generator.state.value)[0])
            drawn_from = np.random.default_rng(seed)
            ids = drawn_from.choice(usual, self.length, replace=len(usual) < self.length)
        else:
            return
        table = ops.convert_to_numpy(model.backbone.token_embedding.table.value)
        self.vectors.assign(table[ids])


class EncodedPrompt(Prompt):
    """Vectors before the embedded tokens, which a network makes from vectors of its own.

    Liu et al. 2021, "GPT Understands, Too", section 2.2. The network is dropped after training.

    Example:

    >>> tuple(EncodedPrompt(length=3, width=4, encoder="lstm", hidden=5)({}).shape)
    (1, 3, 4)
    """

    def __init__(
        self, length: int, width: int, encoder: str, hidden: int, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(length, width, seed, **kwargs)
        make = PROMPT_ENCODERS[encoder]
        self.encoder_layer = make(width, hidden, seed=self._generator, dtype="float32", name=encoder)

    def build(self, features_shape: Any = None) -> None:
        """Creates `vectors` [length, width], which the network reads, and its weights."""
        start = normal(1.0, self._generator, truncated=False)
        self.vectors = self._weight("vectors", (self.length, self.width), start)
        self.encoder_layer.build((1, self.length, self.width))

    def own(self) -> Tensor:
        """Returns the vectors that the network makes, a float tensor [length, width]."""
        vectors = ops.convert_to_tensor(self.vectors)
        return ops.squeeze(self.encoder_layer(ops.expand_dims(vectors, 0)), 0)

    def begin(self, model: BackboneWithHeads, tokenizer: Any, method: Any) -> None:
        """Leaves the vectors as they are drawn."""


def add_prompt(model: BackboneWithHeads, method: InputPromptMethod) -> None:
    """Adds a prompt to a model.

    Raises:
        TuningError: for a backbone that takes no virtual tokens.
    """
    require_fit(model, method)
    common = keywords_of(model, method)

    def make(place: Any) -> Prompt:
        size = (method.length, place.inputs)
        if method.encoded_by is None:
            return Prompt(*size, **common)
        return EncodedPrompt(*size, method.encoded_by, method.hidden_for(place.inputs), **common)

    add_at_places(model, method.kind, [place for place in places_of(model) if place.name == "prompt"], make)


class PromptMLP(Layer):
    """Three dense layers with ReLU between them, peft's network for prompts.

    Weights start as in torch: uniform within one over the root of the inputs.

    Example:

    >>> import numpy as np
    >>> tuple(PromptMLP(width=4, hidden=5)(np.ones((1, 3, 4))).shape)
    (1, 3, 4)
    """

    def __init__(self, width: int, hidden: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)
        reads = ((width, hidden, "relu"), (hidden, hidden, "relu"), (hidden, width, None))
        self.dense = _dense_layers(reads, self._generator, self.dtype_policy)

    def build(self, vectors_shape: Shape) -> None:
        """Creates the weights of the dense layers."""
        _build(self.dense, vectors_shape)

    def call(self, vectors: Tensor) -> Tensor:
        """Returns a float tensor [1, length, width]."""
        for layer in self.dense:
            vectors = layer(vectors)
        return vectors


class PromptLSTM(Layer):
    """Two bidirectional LSTMs and two dense layers with a ReLU between them.

    Liu et al. 2021, "GPT Understands, Too", section 2.2, as in the authors' code. Weights start as in torch:
    uniform within one over the root of the cells, or of the inputs of a dense layer.

    Example:

    >>> import numpy as np
    >>> tuple(PromptLSTM(width=4, hidden=5)(np.ones((1, 3, 4))).shape)
    (1, 3, 4)
    """

    def __init__(self, width: int, hidden: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)
        start = uniform(hidden**-0.5, self._generator)
        self.recurrent = [
            keras.layers.Bidirectional(
                keras.layers.LSTM(
                    hidden,
                    return_sequences=True,
                    kernel_initializer=start,
                    recurrent_initializer=start,
                    bias_initializer=start,
                    unit_forget_bias=False,
                    seed=0,
                    dtype=self.dtype_policy,
                    # Without one, Keras counts those of the process, and checkpoints know weights by path.
                    name="lstm",
                ),
                dtype=self.dtype_policy,
                name=f"layer_{number}",
            )
            for number in range(2)
        ]
        both = 2 * hidden
        reads = ((both, both, "relu"), (both, width, None))
        self.dense = _dense_layers(reads, self._generator, self.dtype_policy)

    def build(self, vectors_shape: Shape) -> None:
        """Creates the weights of the LSTMs and of the dense layers."""
        states_shape = (*vectors_shape[:-1], 2 * self.hidden)
        for number, layer in enumerate(self.recurrent):
            layer.build(states_shape if number else vectors_shape)
        _build(self.dense, states_shape)

    def call(self, vectors: Tensor) -> Tensor:
        """Returns a float tensor [1, length, width]."""
        for layer in (*self.recurrent, *self.dense):
            vectors = layer(vectors)
        return vectors


def _dense_layers(
    reads: tuple[tuple[int, int, str | None], ...], generator: keras.random.SeedGenerator, dtype: Any
) -> list[keras.layers.Layer]:
    return [
        keras.layers.Dense(
            units,
            activation=activation,
            kernel_initializer=uniform(inputs**-0.5, generator),
            bias_initializer=uniform(inputs**-0.5, generator),
            dtype=dtype,
            name=f"dense_{number}",
        )
        for number, (inputs, units, activation) in enumerate(reads)
    ]


def _build(layers: list[keras.layers.Layer], shape: Shape) -> None:
    for layer in layers:
        layer.build(shape)
        shape = (*shape[:-1], layer.units)


# By the method's `encoder`.
PROMPT_ENCODERS: dict[str, Callable[..., Layer]] = {"mlp": PromptMLP, "lstm": PromptLSTM}
