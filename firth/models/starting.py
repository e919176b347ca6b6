"""A model that starts from the weights of a bundle, in the place of weights drawn by a seed."""

import dataclasses
import os

from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import BundleError, open_weights, weights_by_path

_BACKBONE = "backbone/"
_SHOWN = 3


@dataclasses.dataclass(frozen=True)
class Start:
    """Where the weights of a model come from that starts from a bundle.

    Attributes:
        fresh: Paths of weights that the bundle lacks; they are as the seed made them.
        unused: Paths of the bundle's weights that the model has no place for.
    """

    fresh: tuple[str, ...]
    unused: tuple[str, ...]


def start_from(model: BackboneWithHeads, folder: str | os.PathLike[str]) -> Start:
    """Assigns the weights of a bundle to a model of the same backbone, by their paths.

    Heads may differ: a weight of a head that the bundle lacks, or has in another shape, stays as it was made.

    Args:
        model: Model that `firth.models.build_model` made, of an objective or a task.
        folder: Folder of the bundle.

    Raises:
        BundleError: if the bundle cannot be read, or its backbone is not the model's.

    Example: see `tests/models/starting_test.py`.
    """
    variables = weights_by_path(model)
    with open_weights(folder) as file:
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in set(file.keys())}
        taken = [name for name, each in variables.items() if shapes.get(name) == tuple(each.shape)]
        _check_backbone(os.fspath(folder), variables.keys() - set(taken), shapes)
        for name in taken:
            variables[name].assign(file.get_tensor(name))
    fresh = (name for name in variables if name not in set(taken))
    return Start(tuple(fresh), tuple(sorted(shapes.keys() - set(taken))))


def _check_backbone(folder: str, fresh: set[str], shapes: dict[str, tuple[int, ...]]) -> None:
    lacking = sorted(name for name in fresh if name.startswith(_BACKBONE))
    if lacking:
        shown = [f"{name} is {list(shapes[name])}" if name in shapes else f"no {name}" for name in lacking]
        more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        raise BundleError(f"{folder} has another backbone: {'; '.join(shown[:_SHOWN])}{more}")
