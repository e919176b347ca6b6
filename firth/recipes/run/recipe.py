"""The recipe of a run."""

import json
from typing import Annotated, Any, ClassVar

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.mixture import AnyMixture, AsIs
from firth.recipes.corpus.outputs import Outputs
from firth.recipes.corpus.sources import AnySource
from firth.recipes.corpus.sources_json import sources_from_json
from firth.recipes.models.model import AnyModel
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.run.base import Base
from firth.recipes.run.fit import conflicts
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.validation import CorpusValidation
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences, WordPieceTokenizerConfig


class Recipe(RunRecipe):
    """A whole run that pre-trains a model: its data, its model, its training and what is served.

    Raises:
        ValueError: for combinations that cannot work, such as rows longer than the model's
            positions.
    """

    own_key: ClassVar[str] = "sources"
    goal_key: ClassVar[str] = "objective"
    data_key: ClassVar[str] = "sources"
    trains_on_corpus: ClassVar[bool] = True
    searched_keys: ClassVar[tuple[str, ...]] = ("training", "model")

    sources: Annotated[tuple[AnySource, ...], pydantic.Field(min_length=1)]
    """Sources of the corpus, at least one."""
    source_schema: Annotated[str | None, NamesFiles()] = None
    """Path of a pinned schema that the records of the sources must match. Without one, a run is checked
    against the schema that an earlier run left in its folder."""
    validation: CorpusValidation = CorpusValidation()
    """Limits of the distance of records, and of the shares of the cleaned corpus, to the last run's."""
    cleaning: Cleaning = Cleaning()
    """Steps from raw to clean documents, the split in train and eval, and limits of the outcome."""
    outputs: Outputs = ()
    """Formats in which the cleaned documents are written for others, each with a folder of its own."""
    tokenizer: AnyTokenizerConfig = WordPieceTokenizerConfig()
    """Kind of tokenizer that is trained, and its size."""
    mixture: AnyMixture = AsIs()
    """Proportions of the sources in the training data."""
    sequences: Sequences = Sequences()
    """Rows that documents are packed into."""
    objective: AnyObjective = MaskedLM()
    """Objective of the pre-training."""
    model: AnyModel = MaskedTransformerConfig()
    """Shape of the backbone."""
    base: Base | None = None
    """Model bundle that the run starts from; null starts from weights drawn by the seed."""
    warm_start: bool = False
    """True to start from the latest model that this pipeline has blessed, with its tokenizer; the first run,
    which finds none, starts from weights drawn by the seed. Each run trains anew."""

    @classmethod
    def reads_in(cls, data: Any) -> list[str]:
        """Returns the kind and each file of the sources.

        Args:
            data: Plain value of `sources`.

        Raises:
            ValueError: if it is not that of sources.
        """
        return [f"{each.kind} {read}" for each in sources_from_json(json.dumps(data)) for read in each.reads]

    @property
    def start_key(self) -> dict[str, Any]:  # type: ignore[override]
        """Further sources of the weights at the start: the base, by its content."""
        return {} if self.base is None else {"base": self.base.start_key}

    @property
    def starts_from_blessed(self) -> bool:  # type: ignore[override]  # noqa: D102
        return self.warm_start

    def starting_from(self, bundle: str, digest: str) -> "Recipe":
        """Returns the recipe with the pipeline's latest blessed model as its base, if it asks for it.

        Args:
            bundle: Folder of that model's bundle.
            digest: SHA-256 over its files, in hex.
        """
        if not self.warm_start:
            return self
        return self.model_copy(update={"base": Base(bundle=bundle, digest=digest), "warm_start": False})

    @pydantic.model_validator(mode="after")
    def _parts_fit(self) -> "Recipe":
        problems = list(dict.fromkeys(conflicts(self)))
        if problems:
            raise ValueError("\n".join(problems))
        return self
