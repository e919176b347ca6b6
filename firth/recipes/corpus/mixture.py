"""Shares of the training data by source."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import Config, Fraction
from firth.recipes.corpus.sources import SourceName

Weight = Annotated[float, pydantic.Field(ge=0.0)]
Repeats = Annotated[float, pydantic.Field(gt=0.0)]
Unit = Literal["documents", "bytes", "tokens"]


class AsIs(Config):
    """Every document of every source once."""

    # There is nothing to mix.
    mixed: ClassVar[None] = None
    kind: Literal["as_is"] = "as_is"

    def conflicts(self, sources: Sequence[str]) -> Iterator[str]:
        """Yields nothing: no source is named.

        Args:
            sources: Names of the recipe's sources.
        """
        yield from ()


class Mixed(Config):
    """Base of the mixtures. Whoever plans or checks a mixture asks it; none asks which one it is.

    A mixture is made of the train split, after all filters and the tokenizer, which learns from each document
    once. The eval split keeps each of its documents once, so that what is measured does not follow the
    mixture. Repeats are those within one epoch of the training, which may itself consist of several.
    """

    unit: Unit = "tokens"
    """Unit of the proportions: `documents`, `bytes` of their text, or `tokens` of the trained tokenizer."""
    total: int | None = pydantic.Field(default=None, ge=1)
    """Size of the mixture in this unit, repeats counted. Without it, the least size in which each document
    occurs at least once, or less if a source would be repeated too often."""
    max_repeats: Repeats = 4.0
    """Most times that a source's documents may occur, on the average of the source. The default is the number
    that was found to cost next to nothing compared with as much new text (Muennighoff et al. 2023,
    arXiv:2305.16264, section 6)."""
    max_repeats_of: dict[SourceName, Repeats] = pydantic.Field(default={})
    """Most repeats of single sources, by name."""
    on_exhausted: Literal["error", "renormalize", "shrink"] = "error"
    """Rule for a source that is empty, or has too little for the total even when it is repeated: `error`;
    `renormalize` takes what it has, and more of the others in their proportion; `shrink` takes less of all.
    The report states the outcome."""
    tolerance: Fraction = 0.01
    """Largest difference between measured and planned proportions, as a share of each."""
    seed: int = pydantic.Field(default=0, ge=0, lt=2**31)
    """Seed of the choice of documents, which otherwise follows from their ids."""

    @property
    def mixed(self) -> "Mixed":
        """Itself: a plan of it has to be made."""
        return self

    def shares(self, sizes: Mapping[str, int]) -> dict[str, float]:
        """Returns the weight of each source, by name; they need not add up to 1.

        Args:
            sizes: Sizes of the sources in the mixture's unit, by name.
        """
        raise NotImplementedError

    def leaves_out(self, source: str) -> bool:
        """Returns whether a source is left out on purpose.

        Args:
            source: Name of the source.
        """
        return False

    def conflicts(self, sources: Sequence[str]) -> Iterator[str]:
        """Yields a line for each name that does not fit the recipe's sources.

        Args:
            sources: Names of the recipe's sources.
        """
        yield from self._unknown("max_repeats_of", self.max_repeats_of, sources)

    @staticmethod
    def _unknown(key: str, named: Mapping[str, float], sources: Sequence[str]) -> Iterator[str]:
        for name in named:
            if name not in sources:
                yield f"mixture.{key}.{name}: no source is named {name!r}; {suggest(name, sources)}"


class WeightedMixture(Mixed):
    """Proportions as given."""

    kind: Literal["weights"]
    weights: dict[SourceName, Weight]
    """Weights by name of the source, one for each; they need not add up to 1. A source of weight 0 is left
    out."""

    @pydantic.model_validator(mode="after")
    def _weighs_something(self) -> "WeightedMixture":
        if not sum(self.weights.values()):
            raise ValueError("weights: at least one must be above 0")
        return self

    def shares(self, sizes: Mapping[str, int]) -> dict[str, float]:  # noqa: D102
        return {name: self.weights[name] for name in sizes}

    def leaves_out(self, source: str) -> bool:  # noqa: D102
        return not self.weights[source]

    def conflicts(self, sources: Sequence[str]) -> Iterator[str]:  # noqa: D102
        yield from self._unknown("weights", self.weights, sources)
        yield from super().conflicts(sources)
        for name in sources:
            if name not in self.weights:
                yield f"mixture.weights: the source {name!r} has no weight; 0 leaves it out"


class ProportionalMixture(Mixed):
    """Proportions by the sources' sizes n, as min(n, limit) ** (1 / temperature).

    Raffel et al. 2019 (arXiv:1910.10683, section 3.5.2) mix tasks in this way; Xue et al. 2021 (mT5,
    arXiv:2010.11934, section 3.1) mix languages, with 1 / temperature = 0.3.
    """

    kind: Literal["proportional"]
    temperature: float = pydantic.Field(default=1.0, gt=0.0)
    """Temperature: with 1, proportions are those of the sizes; the higher, the more equal."""
    limit: int | None = pydantic.Field(default=None, ge=1)
    """Size at which larger sources are counted, in the unit; null for no limit."""

    def shares(self, sizes: Mapping[str, int]) -> dict[str, float]:  # noqa: D102
        limit = self.limit or max(sizes.values(), default=0)
        return {name: min(size, limit) ** (1.0 / self.temperature) for name, size in sizes.items()}


AnyMixture = Annotated[AsIs | WeightedMixture | ProportionalMixture, pydantic.Field(discriminator="kind")]
_ANY_MIXTURE: pydantic.TypeAdapter[AnyMixture] = pydantic.TypeAdapter(AnyMixture)


def mixture_from_json(text: str) -> AsIs | WeightedMixture | ProportionalMixture:
    """Returns the part that `to_json` wrote, of whichever kind.

    Raises:
        pydantic.ValidationError: if the text does not describe a mixture.

    Example:

    >>> mixture_from_json(ProportionalMixture(kind="proportional", temperature=2.0).to_json()).temperature
    2.0
    """
    return _ANY_MIXTURE.validate_json(text, strict=True)
