"""Checks the file of records that a recipe's model is to answer, before the model is trained."""

import json

from firth.recipes.base.errors import suggest
from firth.recipes.base.yaml_text import Path
from firth.recipes.run.adapting import AdaptingRecipe
from firth.serving.batch.prediction import read_requests
from firth.serving.batch.texts import TEXT, MissingColumnError, Unread
from firth.serving.signatures import SIGNATURES
from firth.tasks.readers.records import RefusedFileError

_INPUT, _COLUMNS = ("predictions", "input"), ("predictions", "columns")


def check_predictions(recipe: AdaptingRecipe) -> None:
    """Checks that a recipe's `predictions` name inputs of the task's signature and columns of the file."""
    if found := predictions_problem(recipe):
        key, problem = found
        raise ValueError(f"{'.'.join(key)}: {problem}")


def predictions_problem(recipe: AdaptingRecipe) -> tuple[Path, str] | None:
    """Returns the key of a recipe's `predictions` that is wrong, and the problem; None if all are right.

    The file is read up to the first record that can be read.
    """
    asked, name = recipe.predictions, recipe.task.signature
    offered = SIGNATURES[name](recipe) if name else None
    if asked is None or offered is None:
        return None
    inputs = [*offered.inputs, *([TEXT] if offered.texts_by else [])]
    for each in asked.columns:
        if each not in inputs:
            return (*_COLUMNS, each), f"{name} has no such input; {suggest(each, inputs)}"
    described = {"recipe": json.loads(recipe.to_json()), "signatures": {name: offered.describe()}}
    unread = Unread()
    records = read_requests(
        described, name, tuple(offered.inputs), asked.input, asked.columns, unread, asked.quoted
    )
    try:
        if next(records, None) is not None:
            return None
    except MissingColumnError as error:
        return (*_COLUMNS, error.input), error.problem
    except RefusedFileError as error:
        return _INPUT, str(error)
    why = f"; line {unread.first[0].line}: {unread.first[0].detail}" if unread.first else ""
    # A file of objects of JSON has no header: a column is missing if no record has it.
    key = _COLUMNS if unread.counts["missing_key"] else _INPUT
    return key, f"none of {unread.counts.total()} records of {asked.input} can be read{why}"
