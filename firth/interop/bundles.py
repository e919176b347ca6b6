"""The bundle that a model goes out from."""

import contextlib
import dataclasses
import itertools
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy.typing as npt

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.formats import Read
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.builders import build_outline, initial_values
from firth.models.bundle import (
    RECIPE_FILE,
    TOKENIZER_FOLDER,
    BundleError,
    load_model,
    open_weights,
    read_recipe,
    specs_of,
    untrained_weights,
    weights_by_path,
    write_bundle,
)
from firth.recipes.base.errors import first_of
from firth.recipes.base.recipe_type import config_of
from firth.recipes.models.model import AnyModel
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.run.imported_recipe import ImportedRecipe, ImportedTaskRecipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences
from firth.recipes.training.export import Export
from firth.storage.tensor_files import TensorSpec
from firth.tokenizers import save_tokenizer
from firth.tokenizers.storage import AnyTokenizer

# What lets heads go out that are as a seed made them.
UNTRAINED = "untrained"
_PROGRESS = logging.getLogger("firth.progress")
Array = TypeVar("Array")
# Where a model says no length of its own, and most where it has no table of positions.
_USUAL, _MOST = 512, 8192


def open_bundle(
    bundle: str | os.PathLike[str], writes_tasks: bool = False
) -> tuple[BackboneWithHeads, RunRecipe]:
    """Returns the model of a bundle, in float32, and its recipe.

    Args:
        bundle: Path of the folder.
        writes_tasks: Whether the model of a task that writes texts has a place in the format.
    """
    with _naming_bundle(bundle):
        recipe = read_recipe(bundle)
        if recipe.goal_key == "task" and not (writes_tasks and recipe.goal.text_end):
            raise InteropError(
                f"{bundle} is the model of a task, whose head this format has no place for; "
                "--format hf writes it, or the model below the head"
            )
        return load_model(bundle, dtype="float32"), recipe


def recipe_of(bundle: str | os.PathLike[str]) -> RunRecipe:
    """Returns the recipe of a bundle, whose weights are not read."""
    with _naming_bundle(bundle):
        recipe = read_recipe(bundle)
    if recipe.trained_by.extends_model:
        raise InteropError(
            f"{os.fspath(bundle)} has additions of method.kind: {recipe.trained_by.kind}, which do not "
            "merge, and other formats have no place for them"
        )
    return recipe


def untrained_heads(bundle: str | os.PathLike[str], wanted: str | None) -> frozenset[str]:
    """Returns the paths of weights of heads that do not go out, since nobody has trained them."""
    if wanted not in (None, UNTRAINED):
        raise InteropError(f"heads: {wanted!r} is not known; {UNTRAINED!r} is, and to leave those out")
    if wanted == UNTRAINED:
        return frozenset()
    with open_weights(bundle) as file:
        return frozenset(path for path in untrained_weights(file) if path.startswith("heads/"))


def about_untrained(left_out: Collection[str]) -> tuple[str, ...]:
    """Returns a note about heads that did not go out."""
    names = sorted({"/".join(path.split("/")[:2]) for path in left_out})
    if not names:
        return ()
    return (
        f"left out, since nobody has trained them, and they are random: {first_of(names)}; --option "
        f"heads={UNTRAINED} writes them all the same",
    )


def require_trained(left_out: Collection[str]) -> None:
    """Passes if there is no head that nobody has trained, where a format has no model without heads."""
    if left_out:
        raise InteropError(
            f"{min(left_out)}: nobody has trained it, so that what the model writes is random; --option "
            f"heads={UNTRAINED} writes it all the same"
        )


def copy_sources(bundle: str | os.PathLike[str], folder: str) -> None:
    """Copies a bundle's recipe and tokenizer to a folder."""
    storage.copy_file(os.path.join(bundle, RECIPE_FILE), os.path.join(folder, RECIPE_FILE))
    storage.copy_folder(os.path.join(bundle, TOKENIZER_FOLDER), os.path.join(folder, TOKENIZER_FOLDER))


@contextlib.contextmanager
def _naming_bundle(bundle: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (BundleError, storage.NotWholeError) as error:
        raise InteropError(f"{os.fspath(bundle)} is not a model bundle: {error}") from error


@dataclasses.dataclass(frozen=True)
class Incoming:
    """The weights of an imported model, and the report of its import.

    Attributes:
        read: The report.
        weights: Paths and weights without the fresh ones, each made when it is read.
    """

    read: Read
    weights: Iterable[tuple[str, npt.NDArray[Any]]]


def beginning_with(
    objective: AnyObjective, begin: str | None, tokenizer: AnyTokenizer, path: str
) -> AnyObjective:
    """Returns an objective with another `begin`; the same one if none is given.

    Raises:
        InteropError: for an objective without this key, an unknown value, and one that the tokenizer lacks.
    """
    if begin is None:
        return objective
    if "begin" not in type(objective).model_fields:
        raise InteropError(f"{path}: begin: {begin!r}: objective.kind: {objective.kind} has no such key")
    try:
        made: AnyObjective = type(objective)(**{**dict(objective), "begin": begin})
    except ValueError as error:
        raise InteropError(f"{path}: {error}") from None
    pieces = getattr(getattr(tokenizer, "specials", None), "by_role", {})
    if lacking := [role for role in made.text_frame.before if role not in pieces]:
        raise InteropError(
            f"{path}: begin: {begin!r}: the tokenizer has no {lacking[0]}, only {sorted(pieces)}"
        )
    return made


@dataclasses.dataclass(frozen=True)
class Imported:
    """A model of another library: all but its weights.

    Attributes:
        path: Path of the folder that holds it, for errors.
        origin: Family and format, for readers of the recipe.
        model: Shape of its backbone, as a recipe says it.
        objective: Objective that its heads are made for.
        vocabulary_size: Number of rows of its token table.
        tokenizer: Its tokenizer.
        export: How it makes one vector of a text.
        task: Task that its heads were fine-tuned for; None if they are those of the objective.
        length: Most tokens of a text that its files say; None if they say nothing, or a table has as many.
        length_key: File and key that say it, for people.
    """

    path: str
    origin: str
    model: AnyModel
    objective: AnyObjective
    vocabulary_size: int
    tokenizer: AnyTokenizer
    export: Export = dataclasses.field(default_factory=Export)
    task: Any = None
    length: int | None = None
    length_key: str = ""

    @property
    def row_length(self) -> int:
        """Most tokens of a text that are read: as many as the model has positions, or as its files say."""
        most = self.model.longest or _MOST
        length = min(self.length or self.model.longest or _USUAL, most)
        # Longer rows may need more sentinels than the tokenizer has.
        while length > _USUAL and self.objective.sentinels_needed(Sequences(length=length)) > len(
            self.tokenizer.sentinel_ids
        ):
            length = max(length // 2, _USUAL)
        return length

    @property
    def length_reason(self) -> str:
        """Why as many tokens are read as are, for people."""
        if self.length is not None and self.row_length != self.length:
            return f"{self.length_key} is {self.length}"
        own = "it says no length of its own" if self.model.longest is None else "it has as many positions"
        return self.length_key or own

    def recipe(self, name: str) -> ImportedRecipe | ImportedTaskRecipe:
        """Returns the recipe of the model."""
        if self.tokenizer.vocabulary_size() > self.vocabulary_size:
            raise InteropError(
                f"{self.path}: the tokenizer has {self.tokenizer.vocabulary_size()} pieces, the weights have "
                f"{self.vocabulary_size} rows: they do not belong together"
            )
        length, objective = self.row_length, self.objective
        if objective.predictions > length:
            objective = objective.model_copy(update={"max_predictions": length})
        shared: dict[str, Any] = {
            "name": name,
            "tokenizer": _tokenizer_config(self.tokenizer, self.vocabulary_size),
            "sequences": Sequences(length=length),
            "model": self.model,
            "export": self.export,
        }
        try:
            if self.task is not None:
                return ImportedTaskRecipe(task_imported_from=self.origin, task=self.task, **shared)
            return ImportedRecipe(imported_from=self.origin, objective=objective, **shared)
        except ValueError as error:
            raise InteropError(f"{self.path}: {error}") from error

    def write(
        self,
        name: str,
        folder: str | os.PathLike[str],
        bring: Callable[[Mapping[str, TensorSpec], RunRecipe], Incoming],
    ) -> Read:
        """Writes the model bundle weight by weight, and returns the report of the import.

        Raises:
            InteropError: as for `recipe`.
            FileExistsError: if there is something in the bundle's place.
        """
        recipe = self.recipe(name)
        weights = weights_by_path(build_outline(recipe))
        specs = specs_of(weights)
        incoming = bring(specs, recipe)
        read = dataclasses.replace(
            incoming.read, length=recipe.sequences.length, length_reason=self.length_reason
        )
        fresh = initial_values({path: weights[path] for path in read.fresh})
        arrays = _report_progress(itertools.chain(incoming.weights, fresh.items()), len(specs))
        with storage.scratch_folder() as scratch:
            tokenizer = os.path.join(scratch, "tokenizer")
            save_tokenizer(self.tokenizer, tokenizer)
            write_bundle(folder, recipe, tokenizer, specs, arrays, read.stored, read.fresh)
        return read


def _report_progress(arrays: Iterable[Array], count: int) -> Iterator[Array]:
    """Yields the weights, and says how many have come."""
    for number, each in enumerate(arrays, start=1):
        yield each
        event = {"kind": "import", "part": "writing its weights", "done": number, "of": count}
        _PROGRESS.info("%d of %d weights", number, count, extra={"firth": event})


def _tokenizer_config(tokenizer: AnyTokenizer, rows: int) -> AnyTokenizerConfig:
    """Returns the part of the recipe that would train such a tokenizer."""
    sizes = {"vocabulary_size": rows}
    if sentinels := len(tokenizer.sentinel_ids):
        sizes["sentinels"] = sentinels
    return config_of(
        "tokenizer", AnyTokenizerConfig, {"kind": tokenizer.kind, **sizes, **tokenizer.recipe_settings}
    )
