"""The facts that every cleaning step states."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import Config

if TYPE_CHECKING:
    from firth.recipes.corpus.normalization import Normalization
    from firth.recipes.corpus.privacy import PiiStep
    from firth.recipes.corpus.sources import AnySource


class CleaningStep(Config):
    """Base of the cleaning steps. Whoever runs or checks the steps asks them; none asks which step it is."""

    trains_model: ClassVar[bool] = False
    """True if it trains a model on the corpus, which is an artifact of its own."""
    reads_model: ClassVar[bool] = False
    """True if it reads a model that others have trained, which is tried when a pipeline is made."""
    source_names: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Names of sources, by the key that holds them."""
    further_sources: ClassVar["dict[str, tuple[AnySource, ...]]"] = {}
    """Sources that do not belong to the corpus, by the key that holds them."""
    normalization: ClassVar["Normalization | None"] = None
    """The form that the step brings text to, which every reader of text for the model has to repeat."""
    privacy: ClassVar["PiiStep | None"] = None
    """The personal data that the step replaces."""
    adds_metadata: ClassVar[bool] = False
    """True if it adds to the metadata of the documents that it keeps."""

    def conflicts(self, sources: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yields each key that does not fit the recipe's sources, and what is wrong with it.

        Args:
            sources: Names of the recipe's sources.
        """
        for key, given in self.source_names.items():
            for name in given:
                if name not in sources:
                    yield key, f"no source is named {name!r}; {suggest(name, sources)}"


class DescribingStep(CleaningStep):
    """Base of the steps that can add values to the metadata of the documents that they keep."""

    add_metadata: bool = False
    """True to add the step's values to each document's metadata, and so to exports. Their keys begin with the
    name of the step and a dot."""

    @property
    def adds_metadata(self) -> bool:  # type: ignore[override]
        """True if `add_metadata` is."""
        return self.add_metadata
