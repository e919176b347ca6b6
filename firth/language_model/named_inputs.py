"""Inputs of a model's signature, by the names that its task or its records have for them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from firth.language_model.texts import checked_texts, list_rows
from firth.recipes.base.errors import suggest
from firth.recipes.run.run_recipe import RunRecipe

if TYPE_CHECKING:
    from firth.language_model.answers import TextAnswers

_PARAMETERS = "parameters"


class NamedInputs(NamedTuple):
    """Inputs of a signature.

    Attributes:
        inputs: Texts of each input by its name, and `parameters`.
        is_one: True for a single text or record.
    """

    inputs: dict[str, Any]
    is_one: bool


def named_inputs(model: "TextAnswers", x: Any, given: Mapping[str, Any]) -> NamedInputs:
    """Returns the inputs of a model's first signature, of texts or records and further inputs.

    Args:
        model: Model that is asked.
        x: A text, a record, or several; None if all inputs are given by name.
        given: Further inputs, by the names of the signature or of the texts of the model's task.

    Raises:
        TypeError: for a value that is not a text.
        ValueError: if there is no text, or one of the task's is missing, with the nearest name.
    """
    reads = model.inputs_of(model.signatures[0])
    roles = _roles(model.recipe, reads)
    named = {role: name for name, role in roles.items()}
    inputs = {named.get(name, name): value for name, value in given.items()}
    first = "text" if "text" in reads else reads[0]
    if x is None:
        if first not in inputs:
            _check_first(roles.get(first, first), given)
        x = inputs.pop(first)
    is_one = isinstance(x, str) or (isinstance(x, Mapping) and any(isinstance(e, str) for e in x.values()))
    if is_one:
        inputs = {name: value if name == _PARAMETERS else _of_one(value) for name, value in inputs.items()}
    rows = [x] if is_one else list_rows(x, "x")
    if isinstance(rows[0], tuple) and len(rows[0]) == len(reads) > 1:
        rows = [dict(zip(reads, row, strict=True)) for row in rows]
    if isinstance(rows[0], Mapping):
        columns = _columns(model.recipe, reads, rows[0])
        texts = {name: [row.get(column) for row in rows] for name, column in columns.items()}
    else:
        # Texts as words are lists.
        texts = {first: rows if isinstance(rows[0], list) else checked_texts(rows, "x")}
    inputs = {**texts, **inputs}
    for name, role in roles.items():
        if name not in inputs:
            raise ValueError(f"{role} is missing: give {role}=, next to {roles.get(first, first)}")
    return NamedInputs(inputs, is_one)


def _of_one(value: Any) -> Any:
    """Returns an input of one record as that of a list of records."""
    return value if isinstance(value, list | tuple) and len(value) == 1 else [value]


def _roles(recipe: RunRecipe, reads: tuple[str, ...]) -> dict[str, str]:
    """Returns the role of a text of the task by the input that it is; empty without a task."""
    goal: Any = recipe.goal
    asked = getattr(goal, "asked_roles", ((),))[0]
    return dict(zip(reads, asked))


def _columns(recipe: RunRecipe, reads: tuple[str, ...], row: Mapping[str, Any]) -> dict[str, str]:
    """Returns the column of each input in records such as a row.

    They are called as in the data that the model was trained on, or as the task's texts, or as the inputs.
    """
    roles = _roles(recipe, reads)
    for columns in _known_columns(recipe, reads, roles):
        if columns and set(columns.values()) <= row.keys():
            # Inputs that may be left out have names of their own.
            return {**{name: name for name in reads if name in row}, **columns}
    for role in roles.values():
        _check_first(role, row)
    _check_first(reads[0], row)
    return {name: name for name in reads if name in row}


def _known_columns(
    recipe: RunRecipe, reads: tuple[str, ...], roles: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    # Published data sets are files, which have no columns.
    trained_on = getattr(getattr(recipe, "data", None), "texts", {})
    columns = {name: trained_on.get(role) for name, role in roles.items()}
    if all(isinstance(column, str) for column in columns.values()):
        yield {name: str(column) for name, column in columns.items()}
    yield dict(roles)
    yield {name: name for name in (roles or reads)}


def _check_first(name: str, row: Mapping[str, Any]) -> None:
    if name not in row:
        raise ValueError(f"the records have no {name!r}; {suggest(name, list(map(str, row)))}")
