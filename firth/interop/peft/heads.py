"""Heads that peft has trained as a whole next to an adapter."""

from collections.abc import Iterator, Sequence

from keras import ops

from firth.interop.errors import InteropError
from firth.interop.hugging_face.finding import family_of
from firth.interop.hugging_face.rules import Rule
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorFile

PREFIX = "base_model.model."


def read_heads(
    model: BackboneWithHeads, recipe: RunRecipe, file: TensorFile, names: Sequence[str]
) -> tuple[str, ...]:
    """Gives a model the weights of its heads that an adapter was saved with."""
    family = family_of(recipe.model, recipe.goal, is_trained=False)
    given = {name.removeprefix(PREFIX): name for name in names}
    variables = weights_by_path(model)
    used: set[str] = set()
    for rule in _rules_of_heads(family.rules(recipe.model, recipe.goal)):
        there = [name for name in rule.theirs if name in given]
        if not there:
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


def _rules_of_heads(rules: Sequence[Rule]) -> Iterator[Rule]:
    return (rule for rule in rules if not rule.ours.startswith("backbone/"))
