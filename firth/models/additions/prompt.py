"""Prompts: vectors before the embedded tokens of each text."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.elements.extensible import Addition
from firth.layers.elements.seeds import drawn, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.holding import TuningError, hold, keywords_of, places_of, require_fit
from firth.models.additions.prompt_encoder import PROMPT_ENCODERS
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.prompts import InputPromptMethod

# Of the first pieces of a vocabulary that prompts start from; see `Prompt.begin`.
_COMMON = 5000
# Prompts start uniform within this bound, where they do not start from pieces.
_BOUND = 0.5


class Prompt(Addition):
    """Vectors that stand before the embedded tokens of each text.

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
        start = keras.initializers.RandomUniform(-_BOUND, _BOUND, seed=self._generator)
        self.vectors = self._weight("vectors", (self.length, self.width), drawn(start))

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
        start = keras.initializers.RandomNormal(stddev=1.0, seed=self._generator)
        self.vectors = self._weight("vectors", (self.length, self.width), drawn(start))
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

    hold(model, method.kind, [place for place in places_of(model) if place.name == "prompt"], make)
