"""Reads the recipes of runs that adapt a model: the values that are stated, and those of the base."""

import os
import pathlib
from collections.abc import Sequence
from typing import Any

from firth.recipes.base.errors import RecipeError
from firth.recipes.base.recipe_type import SHORTEST_ROW
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.base.yaml_text import write_yaml
from firth.recipes.reading.bases import BASE, check_stated, find_base
from firth.recipes.reading.bundles import ImportBase, digest_of_bundle, runs_root
from firth.recipes.reading.loading import (
    checked_with_full_paths,
    load_run_recipe,
    read_raw_file,
    recipe_to_yaml,
)
from firth.recipes.reading.method_sources import MethodSourceError, check_source, with_source
from firth.recipes.reading.raw_recipes import SUFFIXES, Option, RawRecipe, assign, override_all
from firth.recipes.run.adapting import TRAINING, UNCHOSEN_VALUES, AdaptingRecipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tasks.forms import AnyForm, Form
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import task_types
from firth.recipes.tuning.method import Method
from firth.recipes.tuning.methods import method_types


def adapts(path: str) -> bool:
    """Returns whether a file says how a model is adapted to a task."""
    if not path.endswith(SUFFIXES):
        return False
    try:
        said = read_raw_file(pathlib.Path(path)).data
    except RecipeError:
        # Errors in it are reported where it is loaded.
        return False
    return "task" in said and "sources" not in said


def load_adapting_recipe(
    path: str | os.PathLike[str] | None,
    overrides: Sequence[str | Option] = (),
    root: str | os.PathLike[str] | None = None,
    import_base: ImportBase | None = None,
) -> AdaptingRecipe:
    """Returns the recipe of a run that adapts a model, checked.

    It takes tokenizer and model from its `base`. Rows have as many tokens as the task's kind says, or as the
    base's model reads, unless `sequences` says others; texts are laid out as the base's model reads them,
    unless `task.form` says how. Method and learning rate are those of that form, the rate by the width of the
    base, unless the recipe says others.

    Raises:
        RecipeError: with one line for each problem found.
    """
    return load_adapting_with_places(path, overrides, root, import_base)[0]


def load_adapting_with_places(
    path: str | os.PathLike[str] | None,
    overrides: Sequence[str | Option] = (),
    root: str | os.PathLike[str] | None = None,
    import_base: ImportBase | None = None,
) -> tuple[AdaptingRecipe, RawRecipe]:
    """Returns the recipe of a run that adapts a model, and the origins of its values."""
    file = None if path is None else read_raw_file(pathlib.Path(path))
    raw = _with_base(override_all(file, overrides), runs_root(root), import_base)
    recipe, _ = checked_with_full_paths(raw, AdaptingRecipe)
    try:
        check_source(recipe.method, recipe.base.digest)
    except MethodSourceError as error:
        raise RecipeError(
            [f"{raw.origin(('method',)).place}: {line}" for line in str(error).split("\n")]
        ) from None
    return recipe, raw


def adapting_yaml(recipe: RunRecipe) -> str:
    """Returns a recipe as a file that `load_adapting_recipe` reads back equal.

    What follows from the rows, such as `training.steps`, is left out, since nobody may say it.
    """
    data = recipe.model_dump(mode="json")
    for key in AdaptingRecipe.counted_keys:
        if (part := _part_saying(data, key)) is not None:
            del part[key.rpartition(".")[2]]
    return write_yaml(data)


def run_yaml(recipe: RunRecipe) -> str:
    """Returns a run's recipe of any kind as a file that can be run again."""
    return adapting_yaml(recipe) if recipe.counts_epochs else recipe_to_yaml(recipe)


def _with_base(raw: RawRecipe, root: str, import_base: ImportBase | None) -> RawRecipe:
    said = raw.data.get(BASE)
    origin = raw.origin((BASE,))
    if said is None:
        raise RecipeError(
            [f"{origin.place}: {BASE}: name the model to start from; see firth import and firth runs"]
        )
    given = said if isinstance(said, dict) else {"bundle": said}
    bundle, base = find_base(given.get("bundle"), origin, root, load_run_recipe, import_base)
    brought = base.model_dump(mode="json", include={"tokenizer", "model"})
    stated = {key: raw.data[key] for key in brought if raw.data.get(key) is not None}
    check_stated(raw, stated, brought, str(given["bundle"]))
    data = {
        "name": _name(raw.data, str(given["bundle"]), base),
        **raw.data,
        **assign(brought, (), stated),
        BASE: {**given, "bundle": bundle, "digest": given.get("digest") or digest_of_bundle(bundle)},
    }
    # A base that writes in slots may be adapted to a task that does not, or to shorter rows.
    served = base.export.model_dump(mode="json", exclude={"slots", "slot_length", "projections"})
    data["export"] = assign(served, (), raw.data.get("export") or {})
    kind = _kind(data.get("task"))
    form, rate = _form(base, kind), ("optimizer", "learning_rate")
    data["method"] = assign({"kind": form.method}, (), data.get("method") or {})
    method = _method(data["method"])
    data["method"] = with_source(method.with_task(data["method"], data.get("task")), method, raw, root)
    rows = _sequences(base, kind, method, data["method"])
    data["sequences"] = assign(rows, (), raw.data.get("sequences") or {})
    # Papers adapt wide models; a narrow one, of which little is trained, takes no lower rate than all of it.
    usual = max(method.learning_rate or 0.0, form.learning_rate_for(base.model.width))
    data["training"] = assign(assign(TRAINING, rate, usual), (), _training(raw))
    if isinstance(task := data.get("task"), dict):
        said_form = task.get("form") or {}
        made = form.model_dump(mode="json")
        task_form = assign(made, (), said_form) if isinstance(said_form, dict) else said_form
        data["task"] = {**task, "form": task_form}
        if "pooling" not in (raw.data.get("export") or {}):
            data["export"] = _export(data["export"], kind, task_form)
    return RawRecipe(data, raw.origins)


def _export(export: Any, kind: type[Task], form: Any) -> Any:
    """Returns the export with the pooling that makes the vectors which the task trains, if it trains some."""
    if not isinstance(export, dict) or not isinstance(form, dict):
        return export
    pooling = kind.served_poolings.get(form.get("pooling", ""))
    # The task's texts have no prompt before them.
    return export if pooling is None else {**export, "pooling": pooling, "prompt": ""}


def _training(raw: RawRecipe) -> dict[str, Any]:
    problems = [
        f"{raw.origin(tuple(key.split('.'))).place}: {key}: follows from {source}; say that"
        for key, source in AdaptingRecipe.counted_keys.items()
        if _part_saying(raw.data, key) is not None
    ]
    if problems:
        raise RecipeError(problems)
    return dict(raw.data.get("training") or {})


def _part_saying(data: Any, key: str) -> dict[str, Any] | None:
    """Returns the part of a recipe that says a counted key; None if it says nothing."""
    *parts, last = key.split(".")
    for part in parts:
        data = data.get(part) if isinstance(data, dict) else None
    is_said = isinstance(data, dict) and last in data and data[last] not in UNCHOSEN_VALUES.get(key, ())
    return data if is_said else None


def _name(data: dict[str, Any], said: str, base: RunRecipe) -> str:
    start = base.name if os.sep in said else said
    labelled, task = data.get("data"), data.get("task")
    kind = task.get("kind") if isinstance(task, dict) else None
    of = labelled.get("format") if isinstance(labelled, dict) else None
    return f"{start}_{of or kind or 'adapted'}"


def _sequences(base: RunRecipe, of_kind: Any, method: type[Method], said: Any) -> dict[str, int]:
    # Where states are carried from row to row, the base has read longer texts than a row.
    trained = of_kind.row_length if base.model.carries_state else base.sequences.length
    length = min(of_kind.row_length, trained)
    if base.model.longest is not None:
        room = base.model.longest - method.positions_of(said)
        # The error for too many virtual tokens names them, not a short row.
        length = min(length, room) if room >= SHORTEST_ROW else length
    documents = 1 if method.one_text_in_a_row else max(1, length // of_kind.record_length)
    return {"length": length, "max_documents": documents}


def _method(said: Any) -> type[Method]:
    """Returns the type of a method, as far as its plain value names one."""
    return method_types().get(str(said.get("kind")), Method) if isinstance(said, dict) else Method


def _kind(task: Any) -> type[Task]:
    """Returns the type of a task, as far as its plain value names one."""
    return task_types().get(str(task.get("kind")), Task) if isinstance(task, dict) else Task


def _form(base: RunRecipe, kind: type[Task]) -> Form:
    """Returns the form that the base's model reads, and that a kind of task takes of it."""
    readable = _readable(kind, base.model.architecture)
    # Before others those that begin a text as the base was trained to read it.
    for form in sorted(readable, key=lambda form: form.before != base.goal.text_frame.before):
        model = base.model
        return form.form_for(kind.pooling_for(_pooling(base)), model.separates_segments, model.separators)
    takes = [name for name, each in task_types().items() if _readable(each, base.model.architecture)]
    said = f"{base.model.kind}, of the architecture {base.model.architecture}"
    problem = f"model.kind: {said}, cannot read texts in any form of task.kind: "
    problem += f"{', '.join(kinds_of(kind))}; it takes {', '.join(takes) or 'no task'}"
    raise RecipeError([f"{BASE}: {problem}"])


def _readable(kind: type[Task], architecture: str) -> list[Any]:
    """Returns the forms of a kind of task that the models of an architecture read."""
    stated = kind.model_fields.get("form")
    forms: list[Any] = configs_in(AnyForm if stated is None else stated.annotation)
    return [form for form in forms if architecture in form.architectures]


def _pooling(base: RunRecipe) -> str:
    """Returns how a sentence encoder pools; of any other model the pooler, if it has trained one."""
    is_encoder_of_sentences = base.export.pooling not in ("mean", "first", "cls")
    return base.export.pooling if is_encoder_of_sentences or not base.goal.trains_pooler else "cls"
