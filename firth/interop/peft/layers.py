"""Adapters of linear layers: peft keeps the tensors of each layer by the layer's name."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np
import numpy.typing as npt
from keras import ops

from firth.interop.errors import InteropError
from firth.interop.hugging_face.families import family_of
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.peft.kind import Config, PeftKind, Tensors
from firth.layers.elements.extensible_layer import Place
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path
from firth.recipes.base.errors import first_of, suggest
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorFile
from firth.tuning import METHODS
from firth.tuning.additions import places_of

_WEIGHT = ".weight"
PREFIX = "base_model.model."
# The tensors that peft adds to each of torch's layers, by the end of their name.
ByModule: TypeAlias = Mapping[str, Tensors]


@dataclasses.dataclass(frozen=True)
class Module:
    """A projection of ours as a part of a linear layer of torch's.

    Attributes:
        name: Name of torch's layer in the base model, such as `encoder.layer.0.attention.self.query`.
        place: The projection.
        rows: Of each of its inputs the number of torch's input, int [inputs].
        columns: Of each of its outputs the number of torch's output, int [outputs].
        outputs: Number of all outputs of torch's layer.
        inputs_first: Whether torch's weight is [inputs, outputs], as of GPT-2's layers.
    """

    name: str
    place: Place
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    outputs: int
    inputs_first: bool


def modules_of(model: BackboneWithHeads, recipe: RunRecipe) -> list[Module]:
    """Returns the projections of a model that are, alone or with others, a linear layer of torch's.

    They follow from the rules by which weights go out: the numbers of the cells of torch's weight are read as
    if they were the weight.

    Raises:
        firth.interop.errors.InteropError: if no family of Hugging Face's format can express the model.
    """
    family = family_of(recipe.model, recipe.goal, is_trained=False)
    variables = weights_by_path(model)
    places: dict[int, list[Place]] = {}
    for place in places_of(model):
        if place.columns is not None:
            places.setdefault(id(place.columns.kernel), []).append(place)
    return [
        module
        for rule in family.backbone(recipe.model)
        if id(variables[rule.ours]) in places
        for module in _of_rule(rule, variables[rule.ours].shape, places[id(variables[rule.ours])])
    ]


def _of_rule(rule: Rule, shape: Sequence[int], places: Sequence[Place]) -> Iterator[Module]:
    tensors = rule.write(np.zeros(shape, "int64"))
    for number, (name, tensor) in enumerate(zip(rule.theirs, tensors, strict=True)):
        if tensor.ndim != 2 or not name.endswith(_WEIGHT):
            continue
        cells = [np.full(each.shape, -1, "int64") for each in tensors]
        cells[number] = np.arange(tensor.size).reshape(tensor.shape)
        whole = rule.read(*cells)
        for place in places:
            assert place.columns is not None
            own = place.columns.part(whole)
            if (own < 0).any():
                continue
            first, second = np.unravel_index(own, tensor.shape)
            inputs_first = bool(np.ptp(first[:, 0]) > 0)
            inputs, outputs = (first, second) if inputs_first else (second, first)
            yield Module(
                name.removesuffix(_WEIGHT),
                place,
                inputs[:, 0],
                outputs[0],
                tensor.shape[1 if inputs_first else 0],
                inputs_first,
            )


@dataclasses.dataclass(frozen=True)
class AdapterKind(PeftKind):
    """A kind of adapters of linear layers.

    Attributes:
        peft_type: Its name in `adapter_config.json`.
        ends: Ends of the names of its tensors, after the layer's name.
        plain: Settings that change what it computes, with the values that are read here.
        method: Function from settings, tensors and paths of projections by layer to the recipe's method.
        read: Function from a projection, its layer's tensors, settings and the method to the addition's
            weights by name.
        write: Function from the projections of a layer, their additions' weights and the method to tensors
            by end, and to settings that this layer has of its own by key.
        config: Function from the method, the tensors by layer, and whether weights are [inputs, outputs] as
            GPT-2's, to settings.
        known: Settings that are read, or that change nothing of what a saved adapter computes.
        chosen_by: Settings that tell it from other kinds of this name.
    """

    peft_type: str
    ends: tuple[str, ...]
    plain: Config
    method: Callable[[Config, ByModule, Mapping[str, list[str]]], Any]
    read: Callable[[Module, Tensors, Config, Any], dict[str, Array]]
    write: Callable[[Sequence[Module], Sequence[Tensors], Any], tuple[dict[str, Array], dict[str, Any]]]
    config: Callable[[Any, ByModule, bool], dict[str, Any]]
    known: frozenset[str]
    chosen_by: Config = dataclasses.field(default_factory=dict)

    def take_in(
        self, model: BackboneWithHeads, recipe: RunRecipe, config: Config, file: TensorFile
    ) -> tuple[Any, tuple[str, ...]]:
        """Adds an adapter to a model; see `PeftKind`."""
        layers, left_out, whole_names = self._tensors(file, recipe)
        found: dict[str, list[Module]] = {}
        for module in modules_of(model, recipe):
            found.setdefault(module.name, []).append(module)
        for name in layers:
            if name not in found:
                raise InteropError(f"the base has no layer {name}; {suggest(name, found)}")
        places = {
            name: [each.place.path.removeprefix("backbone/") for each in found[name]] for name in layers
        }
        method = self.method(config, layers, places)
        METHODS[method.kind](model, method, 1)
        for name, tensors in layers.items():
            for module in found[name]:
                addition = module.place.layer.addition(module.place.name)
                # Patterns of settings are about names with the base's in front, if it has one there.
                module = dataclasses.replace(module, name=whole_names[name])
                for weight, array in self.read(module, tensors, config, method).items():
                    getattr(addition, weight).assign(keras.ops.convert_to_tensor(array))
        return method, left_out

    def give_out(
        self, model: BackboneWithHeads, recipe: RunRecipe, method: Any
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        """Returns the settings and tensors of a model's additions; see `PeftKind`."""
        added: dict[str, list[Module]] = {}
        modules = modules_of(model, recipe)
        for module in modules:
            if module.place.layer.addition(module.place.name) is not None:
                added.setdefault(module.name, []).append(module)
        known = {each.place.path for each in modules}
        for place in places_of(model):
            if place.layer.addition(place.name) is not None and place.path not in known:
                raise InteropError(f"{place.path} is not a linear layer in torch, so peft cannot adapt it")
        layers: dict[str, dict[str, Array]] = {}
        patterns: dict[str, dict[str, Any]] = {}
        for name, parts in added.items():
            layers[name], own = self.write(parts, [_weights(each) for each in parts], method)
            for key, value in own.items():
                patterns.setdefault(key, {})[name] = value
        inputs_first = any(each.inputs_first for parts in added.values() for each in parts)
        config = {"task_type": None, **self.config(method, layers, inputs_first), **patterns}
        tensors = {
            f"{PREFIX}{name}.{end}": each for name, ends in layers.items() for end, each in ends.items()
        }
        return config, tensors

    def _tensors(
        self, file: TensorFile, recipe: RunRecipe
    ) -> tuple[dict[str, dict[str, Array]], tuple[str, ...], dict[str, str]]:
        """Returns the adapter's tensors by layer and end, the names of the others, and of layers in the file.

        Layers have their names in the base model, whether the adapter was made for it or for one with heads.
        """
        family = family_of(recipe.model, recipe.goal, is_trained=False)
        base = f"{family.base}."
        layers: dict[str, dict[str, Array]] = {}
        whole_names: dict[str, str] = {}
        others = []
        for name in file:
            end = next((each for each in self.ends if name.endswith(f".{each}")), None)
            if end is None:
                others.append(name)
                continue
            whole = name.removeprefix(PREFIX).removesuffix(f".{end}")
            layer = whole.removeprefix(base)
            whole_names[layer] = whole
            layers.setdefault(layer, {})[end] = file[name]
        stem = f"{self.ends[0].split('_')[0]}_"
        of_base = tuple(
            f"{name.rpartition('.')[0]}." for rule in family.backbone(recipe.model) for name in rule.theirs
        )
        unread = [
            name
            for name in others
            if stem in name or name.removeprefix(PREFIX).removeprefix(base).startswith(of_base)
        ]
        if unread:
            raise InteropError(f"tensors that cannot be expressed here: {first_of(unread)}")
        if lacking := [name for name, tensors in layers.items() if len(tensors) < len(self.ends)]:
            raise InteropError(f"lacks tensors of {first_of(lacking)}")
        if not layers:
            raise InteropError(f"has no tensors of {self.peft_type}")
        return layers, tuple(others), whole_names


def _weights(module: Module) -> dict[str, Any]:
    """Returns the weights of an addition by name, and whether it changes what a projection reads."""
    addition: Any = module.place.layer.addition(module.place.name)
    found: dict[str, Any] = {each.name: ops.convert_to_numpy(each.value) for each in addition.weights}
    return {**found, "of_inputs": getattr(addition, "of_inputs", False)}


def read_heads(
    model: BackboneWithHeads, recipe: RunRecipe, file: TensorFile, names: Sequence[str]
) -> tuple[str, ...]:
    """Gives a model the weights of its heads that an adapter was saved with."""
    family = family_of(recipe.model, recipe.goal, is_trained=False)
    given = {name.removeprefix(PREFIX): name for name in names}
    variables = weights_by_path(model)
    used: set[str] = set()
    for rule in family.rules(recipe.model, recipe.goal):
        there = [name for name in rule.theirs if name in given]
        if not there or rule.ours.startswith("backbone/"):
            continue
        if missing := sorted({*rule.theirs} - {*there}):
            raise InteropError(f"modules_to_save: lacks {missing[0]}, which goes with {there[0]}")
        weight = rule.read(*(file[given[name]] for name in rule.theirs))
        variable = variables[rule.ours]
        if tuple(weight.shape) != tuple(variable.shape):
            raise InteropError(
                f"{there[0]} gives {list(weight.shape)}, {rule.ours} is {list(variable.shape)}"
            )
        variable.assign(ops.convert_to_tensor(weight))
        used.update(given[name] for name in there)
    return tuple(name for name in names if name not in used)
