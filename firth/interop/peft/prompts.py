"""Adapters that stand before the tokens: peft keeps their vectors, or their keys and values."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from keras import ops

from firth.interop.errors import InteropError
from firth.interop.hugging_face.families import family_of
from firth.interop.hugging_face.rules import Array
from firth.interop.peft.kind import SETTINGS, Config, PeftKind
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.base.errors import first_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorFile
from firth.tuning import METHODS

_TABLE = "prompt_embeddings"


@dataclasses.dataclass(frozen=True)
class _BeforeTokens(PeftKind):
    """A kind of adapters that stand before the tokens.

    Attributes:
        peft_type: Its name in `adapter_config.json`.
        method: Function from settings to the recipe's method.
        config: Function from the method to settings of this kind alone.
        chosen_by: Settings that tell it from other kinds of this name.
        plain: Settings that change what it computes, with the values that are read here.
        weights: Weights of the addition by the names of the tensors.
        known: Settings that are read, or that change nothing of what a saved adapter computes.
    """

    peft_type: str
    method: Callable[[Config], Any]
    config: Callable[[Any], dict[str, Any]]
    chosen_by: Config = dataclasses.field(default_factory=dict)
    plain: Config = dataclasses.field(default_factory=dict)
    weights: Mapping[str, str] = dataclasses.field(default_factory=lambda: {_TABLE: "vectors"})
    known: frozenset[str] = frozenset(SETTINGS["prompts"])

    def take_in(
        self, model: BackboneWithHeads, recipe: RunRecipe, config: Config, file: TensorFile
    ) -> tuple[Any, tuple[str, ...]]:
        """Adds an adapter to a model; see `PeftKind`."""
        if lacking := [name for name in self.weights if name not in file]:
            raise InteropError(f"lacks the tensors {first_of(lacking)}")
        self._check_stacks(config, recipe.model)
        method = self.method(config)
        METHODS[method.kind](model, method, 1)
        self._assign(model, config, {name: file[name] for name in self.weights})
        return method, tuple(name for name in file if name not in self.weights)

    def give_out(
        self, model: BackboneWithHeads, recipe: RunRecipe, method: Any
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        """Returns the settings and tensors of a model's additions; see `PeftKind`."""
        family_of(recipe.model, recipe.goal, is_trained=False)
        sizes, tensors = self._read(model, recipe.model, method)
        said = {
            "task_type": _task_type(recipe.model),
            "num_virtual_tokens": method.length,
            "num_transformer_submodules": 1,
            **sizes,
            **self.config(method),
        }
        return said, tensors

    def _check_stacks(self, config: Config, model: Any) -> None:
        raise NotImplementedError

    def _assign(self, model: BackboneWithHeads, config: Config, tensors: Mapping[str, Array]) -> None:
        raise NotImplementedError

    def _read(
        self, model: BackboneWithHeads, shape: Any, method: Any
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        raise NotImplementedError


class PromptKind(_BeforeTokens):
    """Vectors before the embedded tokens; of an encoder-decoder, before the encoder's."""

    def _check_stacks(self, config: Config, model: Any) -> None:
        _check(config, "num_transformer_submodules", 1)

    def _assign(self, model: BackboneWithHeads, config: Config, tensors: Mapping[str, Array]) -> None:
        (prompt,) = model.added.held
        for name, array in tensors.items():
            variable = getattr(prompt, self.weights[name])
            _check_shape(name, array, tuple(variable.shape))
            variable.assign(ops.convert_to_tensor(array))

    def _read(
        self, model: BackboneWithHeads, shape: Any, method: Any
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        if len(self.weights) > 1 and shape.has_encoder:
            raise InteropError(
                f"method.kind: {method.kind} does not go out with an encoder: peft reads the task of a "
                "text in decoders alone"
            )
        (prompt,) = model.added.held
        arrays = {name: ops.convert_to_numpy(getattr(prompt, own)) for name, own in self.weights.items()}
        sizes = {"num_layers": shape.layers, "num_attention_heads": shape.attention.heads}
        return {**sizes, "token_dim": arrays[_TABLE].shape[1]}, arrays


class PrefixKind(_BeforeTokens):
    """Keys and values before those of the tokens of each layer, next to each other in one table."""

    def _check_stacks(self, config: Config, model: Any) -> None:
        _check(config, "num_transformer_submodules", 2 if model.has_encoder and model.has_decoder else 1)

    def _assign(self, model: BackboneWithHeads, config: Config, tensors: Mapping[str, Array]) -> None:
        held = model.added.held
        count, table = config["num_layers"], tensors[_TABLE]
        if count != len(held):
            raise InteropError(f"num_layers: {count}, but the base has {len(held)} layers to put keys before")
        one = held[0]
        _check_shape(_TABLE, table, (one.length, count * 2 * one.heads * one.head_width))
        of_layers = table.reshape(one.length, count, 2, one.heads, one.head_width).transpose(1, 2, 3, 0, 4)
        # peft cuts the prefixes of both stacks into layers of four tables, the last two of which nothing
        # reads, so that a layer has the prefix of every other one, beginning again after the last.
        step = config["num_transformer_submodules"]
        for number, prefix in enumerate(held):
            prefix.keys_values.assign(ops.convert_to_tensor(of_layers[step * number % count]))

    def _read(
        self, model: BackboneWithHeads, shape: Any, method: Any
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        if shape.has_encoder and shape.has_decoder:
            raise InteropError(
                f"method.kind: {method.kind} does not go out with an encoder-decoder: peft gives one "
                "prefix to several of its layers, and each has its own here"
            )
        held = model.added.held
        if len(held) != shape.layers:
            raise InteropError(
                f"method.kind: {method.kind} does not go out: layers that share their weights share a prefix "
                "here, and each has its own in peft"
            )
        stacked = np.stack([ops.convert_to_numpy(each.own()) for each in held])
        table = stacked.transpose(3, 0, 1, 2, 4).reshape(method.length, -1)
        heads, width = held[0].heads, held[0].head_width
        sizes = {"num_layers": len(held), "num_attention_heads": heads, "token_dim": heads * width}
        return sizes, {_TABLE: table}


def length_of(config: Config) -> int:
    """Returns the number of virtual tokens that an adapter's settings say."""
    return config["num_virtual_tokens"]


def _check(config: Config, key: str, value: int) -> None:
    if config.get(key) != value:
        raise InteropError(f"{key}: {config.get(key)} cannot be expressed here on this base, {value} can")


def _check_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise InteropError(f"{name} is {list(array.shape)}, and this base's is {list(shape)}")


def _task_type(model: Any) -> str:
    """Returns the task by which peft takes a class that puts something before the tokens."""
    if not model.has_encoder:
        return "CAUSAL_LM"
    return "SEQ_2_SEQ_LM" if model.has_decoder else "FEATURE_EXTRACTION"
