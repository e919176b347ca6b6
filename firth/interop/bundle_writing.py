"""What has been read of another library's folder becomes a bundle."""

import dataclasses
import itertools
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy.typing as npt

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.messages import Read
from firth.models.build import build_outline, initial_values
from firth.models.bundle import specs_of, weights_by_path, write_bundle
from firth.recipes.base.recipe_type import config_of
from firth.recipes.models.model import AnyModel
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.run.imported_recipe import ImportedRecipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences
from firth.recipes.training.export import Export
from firth.storage.tensor_files import TensorSpec
from firth.tokenizers import save_tokenizer
from firth.tokenizers.storage import AnyTokenizer


@dataclasses.dataclass(frozen=True)
class Incoming:
    """What a model brings along.

    Attributes:
        read: What was read, and what is fresh.
        weights: Paths and weights, all but the fresh ones, each made when it is asked for.
    """

    read: Read
    weights: Iterable[tuple[str, npt.NDArray[Any]]]


_PROGRESS = logging.getLogger("firth.progress")
Array = TypeVar("Array")
# Where a model says no length of its own, and most where it has no table of positions.
_USUAL, _MOST = 512, 8192


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

    def recipe(self, name: str) -> ImportedRecipe:
        """Returns the recipe of the model."""
        if self.tokenizer.vocabulary_size() > self.vocabulary_size:
            raise InteropError(
                f"{self.path}: the tokenizer has {self.tokenizer.vocabulary_size()} pieces, the weights have "
                f"{self.vocabulary_size} rows: they do not belong together"
            )
        length, objective = self.row_length, self.objective
        if objective.predictions > length:
            objective = objective.model_copy(update={"max_predictions": length})
        try:
            return ImportedRecipe(
                name=name,
                imported_from=self.origin,
                tokenizer=_tokenizer_config(self.tokenizer, self.vocabulary_size),
                sequences=Sequences(length=length),
                objective=objective,
                model=self.model,
                export=self.export,
            )
        except ValueError as error:
            raise InteropError(f"{self.path}: {error}") from error

    def write(
        self,
        name: str,
        folder: str | os.PathLike[str],
        bring: Callable[[Mapping[str, TensorSpec], RunRecipe], Incoming],
    ) -> Read:
        """Writes the model bundle, and returns what was read. The model is never held whole.

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
        arrays = _told(itertools.chain(incoming.weights, fresh.items()), len(specs))
        with storage.scratch_folder() as scratch:
            tokenizer = os.path.join(scratch, "tokenizer")
            save_tokenizer(self.tokenizer, tokenizer)
            write_bundle(folder, recipe, tokenizer, specs, arrays, read.stored, read.fresh)
        return read


def _told(arrays: Iterable[Array], count: int) -> Iterator[Array]:
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
    config: AnyTokenizerConfig = config_of(
        "tokenizer", AnyTokenizerConfig, {"kind": tokenizer.kind, **sizes, **tokenizer.recipe_settings}
    )
    return config
