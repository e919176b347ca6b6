"""Which of torch's layers each of our projections is, or is a part of."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from firth.interop.hugging_face.families import family_of
from firth.interop.hugging_face.rules import Rule
from firth.layers.elements.extensible import Place
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path
from firth.recipes.run.run_recipe import RunRecipe
from firth.tuning.adding import places_of

_WEIGHT = ".weight"


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
