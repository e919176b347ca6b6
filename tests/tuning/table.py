"""The methods that add something, each with settings for tiny models, as the library's own table has them."""

import re

from firth.recipes.tuning.method import Method
from firth.recipes.tuning.methods import method_types
from firth.tuning import METHODS

# By the name of a setting, for each method that has it; those of a new method are its defaults.
SMALL = {
    "targets": ("*",),
    "input_targets": (),
    "rank": 2,
    "initial_rank": 3,
    "target_rank": 1,
    "initial_steps": 2,
    "bottleneck": 4,
    "reduction_factor": 4.0,
    "length": 3,
    "hidden": 5,
}
# Values that may be large without harm, so that what was trained for a step or two matters.
LARGE = {"alpha": 60.0}
ADDING = [kind for kind in METHODS if method_types()[kind].adds]


def small(kind: str, **more) -> Method:
    """A method with small settings, and others of those that it has."""
    made = method_types()[kind]
    said = {**SMALL, **LARGE, **more}
    return made(**{key: value for key, value in said.items() if key in made.model_fields})


def may_train(method: Method, path: str) -> bool:
    """Returns true if a method that adds something trains a weight: an added one, a head's or a norm's."""
    norms = r"block_.*_norm/" if getattr(method, "norms", False) else "$^"
    return path.startswith(("added/", "heads/")) or bool(re.search(norms, path))
