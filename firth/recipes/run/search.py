"""The search for better values of a recipe's keys, by trials that each train a model."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import Config, check_order

if TYPE_CHECKING:
    from firth.recipes.run.run_recipe import RunRecipe

# A round of hyperband keeps one trial in so many, for as many times the steps.
HYPERBAND_FACTOR = 3
_TRIALS, _ROUNDS = 10, 3
# The prefix of values that KerasTuner's Hyperband has for itself.
_OWN = "tuner/"
Value = bool | int | float | str
RecipeT = TypeVar("RecipeT", bound="RunRecipe")


class Choices(Config):
    """A few values."""

    kind: Literal["choices"] = "choices"
    values: Annotated[tuple[Value, ...], pydantic.Field(min_length=2)]
    """The values: all texts, all numbers, or true and false."""

    @property
    def ends(self) -> tuple[Value, ...]:
        """Values that fit if all do."""
        return self.values

    @property
    def size(self) -> float:
        """Number of different values."""
        return len(set(self.values))

    def add_to(self, space: Any, key: str) -> None:
        """Adds the values of a key to a space of KerasTuner."""
        if isinstance(self.values[0], bool):
            # KerasTuner makes 1 and 0 of them in a choice.
            space.Boolean(key)
        else:
            space.Choice(key, list(self.values))

    @pydantic.field_validator("values")
    @classmethod
    def _are_of_one_type(cls, values: tuple[Value, ...]) -> tuple[Value, ...]:
        if {type(value) for value in values} == {int, float}:
            values = tuple(map(float, values))
        for value in values:
            if type(value) is not type(values[0]):
                raise ValueError(f"{values[0]!r} and {value!r} are of different types; one type is searched")
            if values.count(value) > 1:
                raise ValueError(f"{value!r} is there twice")
        return values


class Range(Config):
    """Numbers between two; whole ones where both are."""

    kind: Literal["range"] = "range"
    low: int | float
    """Least value."""
    high: int | float
    """Greatest value."""
    sampling: Literal["linear", "log"] = "linear"
    """Scale on which values are drawn: `linear`, or `log` for orders of magnitude, as of learning rates."""

    @property
    def ends(self) -> tuple[Value, ...]:
        """Values that fit if all do."""
        return self.low, self.high

    @property
    def size(self) -> float:
        """Number of different values; infinite if they are not whole."""
        return self.high - self.low + 1 if self._is_whole else math.inf

    @property
    def _is_whole(self) -> bool:
        return type(self.low) is type(self.high) is int

    def add_to(self, space: Any, key: str) -> None:
        """Adds the numbers of a key to a space of KerasTuner."""
        add = space.Int if self._is_whole else space.Float
        add(key, self.low, self.high, sampling=self.sampling)

    @pydantic.model_validator(mode="after")
    def _is_a_range(self) -> "Range":
        check_order(self, "low", "high")
        if self.sampling == "log" and self.low <= 0:
            raise ValueError(f"low: {self.low:g} has no logarithm; it must be above 0 with sampling: log")
        return self


AnySpace = Annotated[Choices | Range, pydantic.Field(discriminator="kind")]


class Search(Config):
    """A search by KerasTuner. Each trial is a training with other values of some keys.

    The best values are those of the model that is then trained and served. Trials are compared by the task's
    first score on the held-out records, or by the held-out loss where there is no task.
    """

    algorithm: Literal["random", "grid", "bayesian", "hyperband"] = "random"
    """Algorithm that chooses the next values from earlier trials: `random`, `grid`, `bayesian` or
    `hyperband`, which trains many values for few steps and the best for more (Li et al. 2018,
    arXiv:1603.06560)."""
    trials: Annotated[int | None, pydantic.Field(ge=1, le=10_000)] = None
    """Most trials, by default 10; with `hyperband` their number follows from `rounds`."""
    rounds: Annotated[int | None, pydantic.Field(ge=2, le=6)] = None
    """Most rounds of a group of trials with `hyperband`, by default 3. The best third of a round makes three
    times the steps in the next one, up to those of the run in the last."""
    space: Annotated[dict[str, AnySpace], pydantic.Field(min_length=1)]
    """Values by key, such as `training.optimizer.learning_rate`."""

    @property
    def most_trials(self) -> int:
        """Most trials of an algorithm that takes them from the recipe."""
        return self.trials or _TRIALS

    @property
    def units(self) -> int:
        """Number of parts that the steps of the run fall into with `hyperband`; a first round makes one."""
        return int(HYPERBAND_FACTOR ** ((self.rounds or _ROUNDS) - 1))

    @pydantic.model_validator(mode="after")
    def _has_one_size(self) -> "Search":
        if self.is_by_rounds and self.trials is not None:
            raise ValueError("trials: with algorithm: hyperband they follow from rounds; leave trials out")
        if not self.is_by_rounds and self.rounds is not None:
            raise ValueError("rounds: only algorithm: hyperband has rounds; say trials")
        return self

    @property
    def is_by_rounds(self) -> bool:
        """True if trials have fewer steps than the run."""
        return self.algorithm == "hyperband"


def with_values(recipe: RecipeT, values: Mapping[str, Any]) -> RecipeT:
    """Returns a recipe with other values of some keys, and without its search.

    Raises:
        ValueError: for a key that is not there, with the nearest, and for a value that does not fit.

    Example:

    >>> from firth.recipes import load_recipe
    >>> with_values(load_recipe("demo"), {"training.batch_size": 7}).training.batch_size
    7
    """
    data = json.loads(recipe.to_json())
    data["search"] = None
    for key, value in values.items():
        if key.startswith(_OWN):
            continue
        *parts, last = key.split(".")
        _part_at(data, key, parts)[last] = value
    return type(recipe).of(data)


def _part_at(data: dict[str, Any], key: str, parts: Iterable[str]) -> dict[str, Any]:
    for part in parts:
        if part not in data:
            raise ValueError(f"{key}: there is no {part!r} in the recipe; {suggest(part, data)}")
        if not isinstance(data[part], dict):
            raise ValueError(f"{key}: {part} is {data[part]!r} in the recipe, which has no keys")
        data = data[part]
    return data


def search_conflicts(recipe: "RunRecipe") -> Iterator[str]:
    """Yields a line for each key that cannot be searched, and each value that does not fit."""
    search = recipe.search
    if search is None:
        return
    if recipe.training.strategy == "multi_worker_mirrored":
        yield "search: trials run in one process, which training.strategy: multi_worker_mirrored is not"
    yield from _hyperband_conflicts(recipe, search)
    for key, space in search.space.items():
        if key.split(".")[0] not in recipe.searched_keys:
            there = ", ".join(recipe.searched_keys)
            yield (
                f"search.space.{key}: only what the training alone reads can be searched, keys of {there}; "
                f"{suggest(key.split('.')[0], recipe.searched_keys)}"
            )
            continue
        if source := recipe.counted_keys.get(key):
            yield f"search.space.{key}: follows from {source}; search that"
            continue
        for value in space.ends:
            try:
                with_values(recipe, {key: value})
            except ValueError as error:
                said = str(error).splitlines()[0].removeprefix(f"{type(recipe).__name__}: ")
                yield f"search.space.{key}: {value!r} does not fit: {said}"
                break


def _hyperband_conflicts(recipe: "RunRecipe", search: Search) -> Iterator[str]:
    if not search.is_by_rounds:
        return
    if recipe.training.earlier_stages:
        yield (
            "search.algorithm: hyperband trains for parts of the steps, which training.earlier_stages "
            "divides; take random, grid or bayesian"
        )
    size = math.prod(space.size for space in search.space.values())
    if size < search.units:
        yield (
            f"search.space: hyperband begins with {search.units} trials of different values, and there are "
            f"{size:g}; lower search.rounds, or take grid"
        )
