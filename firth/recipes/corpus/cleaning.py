"""Steps that documents take between reading and tokenizing: cleaning and the split."""

from collections.abc import Sequence
from typing import Annotated, Literal

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import Config, Fraction, check_order
from firth.recipes.corpus.classifiers import AnyScoringStep, ClassifierStep
from firth.recipes.corpus.domains import DomainRulesStep, UrlListsStep
from firth.recipes.corpus.duplicates import CorpusStep, ExactDuplicatesStep
from firth.recipes.corpus.filters import FilterStep, GutenbergStep
from firth.recipes.corpus.normalization import Normalization, NormalizeStep
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.step import CleaningStep


class StepLimit(Config):
    """A bound of what one step may drop."""

    step: str
    """Name of the step in the report: its kind, and `length_2` for the second of a kind."""
    max_dropped_fraction: Fraction
    """Largest share of the documents that come into the step."""


class CorpusLimits(Config):
    """Bounds that a cleaned corpus must keep; the defaults bound nothing.

    They are checked after the cleaning; a change of them does not clean again.
    """

    max_dropped_fraction: Fraction = 1.0
    """Largest share of the documents that come into the cleaning that all steps together drop."""
    max_rejected_fraction: Fraction = 1.0
    """Largest share of the records of all sources that cannot be read."""
    max_source_fraction: Fraction = 1.0
    """Largest share of any one source in the bytes that are left."""
    max_eval_fraction: Fraction = 1.0
    """Largest share of the bytes that are left that is held out. Documents are held out whole, so that with
    few documents it may be many times `split.eval_fraction`."""
    min_documents: int = pydantic.Field(default=0, ge=0)
    """Least number of documents that are left."""
    steps: tuple[StepLimit, ...] = ()
    """Limits of single steps."""


class LengthStep(CleaningStep):
    """Drops documents with too few or too many words.

    Words are runs of non-space characters, divided by ICU's rules in scripts that are written without spaces.
    """

    kind: Literal["length"]
    min_words: int = pydantic.Field(default=5, ge=0)
    """Least words of a document."""
    max_words: int = pydantic.Field(default=1_000_000, gt=0)
    """Most words of a document."""

    @pydantic.model_validator(mode="after")
    def _bounds_in_order(self) -> "LengthStep":
        check_order(self, "min_words", "max_words")
        return self


class CharactersStep(CleaningStep):
    """Drops documents that are mostly not words."""

    kind: Literal["characters"]
    min_alphabetic_fraction: Fraction = 0.5
    """Least share of letters among the characters that are not spaces."""
    max_mean_word_length: float = pydantic.Field(default=15.0, gt=0)
    """Most characters of a word on average, without marks on letters; of scripts with spaces between
    words."""


Step = Annotated[
    NormalizeStep
    | LengthStep
    | CharactersStep
    | GutenbergStep
    | FilterStep
    | UrlListsStep
    | DomainRulesStep
    | PiiStep
    | CorpusStep
    | ClassifierStep
    | AnyScoringStep,
    pydantic.Field(discriminator="kind"),
]


class Split(Config):
    """Train and eval by a hash of the text, after de-duplication, so that no text is in both.

    However few texts there are, at least one is for eval and one for train. Texts are held out whole: two
    parts of one text share names, style and sentences, which would make the evaluation better than it is. If
    texts are few or differ much in size, the share that is held out is not `eval_fraction`; the corpus report
    states it and `limits.max_eval_fraction` bounds it. Records of one id are split as all others are: an id
    that repeats may be a counter that begins again in each file, and text that such records share is a matter
    for the steps on duplicates.
    """

    eval_fraction: float = pydantic.Field(default=0.05, gt=0.0, lt=1.0)
    """Share of the documents that is held out."""


def step_names(steps: Sequence[Step]) -> list[str]:
    """Returns a name for each step: its kind, numbered where the kind occurs again.

    Example:

    >>> step_names([LengthStep(kind="length"), LengthStep(kind="length")])
    ['length', 'length_2']
    """
    kinds = [step.kind for step in steps]
    counts = [kinds[: i + 1].count(kind) for i, kind in enumerate(kinds)]
    return [kind if count == 1 else f"{kind}_{count}" for kind, count in zip(kinds, counts)]


class Cleaning(Config):
    """The cleaning steps, in order, the split, and limits of the outcome.

    Raises:
        pydantic.ValidationError: if a limit names a step that does not exist.
    """

    steps: tuple[Step, ...] = (
        NormalizeStep(kind="normalize"),
        LengthStep(kind="length"),
        CharactersStep(kind="characters"),
        ExactDuplicatesStep(kind="exact_duplicates"),
    )
    """Steps that documents go through, in order."""
    split: Split = Split()
    """Share of the documents that is held out."""
    limits: CorpusLimits = CorpusLimits()
    """Bounds that the cleaned corpus must keep."""
    list_dropped: bool = False
    """True to write a row for each dropped document, with its step and reason, to Parquet files in the folder
    `dropped` next to the corpus report, and for each document that a `sample` left out next to what was read,
    where `firth curation why` finds it."""
    measure: Literal["none", "reached", "only"] = "none"
    """Distributions of the values that steps compare with their thresholds, in the corpus report: those of
    `none`, of `reached`, the documents that reach a step, or `only`: then no document is dropped, and the
    report counts by reason which would have been."""

    @pydantic.model_validator(mode="after")
    def _limits_name_steps(self) -> "Cleaning":
        names = step_names(self.steps)
        for i, limit in enumerate(self.limits.steps):
            if limit.step not in names:
                raise ValueError(
                    f"limits.steps.{i}: no step is named {limit.step!r}; {suggest(limit.step, names)}"
                )
        return self

    def without_limits(self) -> "Cleaning":
        """Returns the same steps and split without limits, which do not change any document."""
        return self.model_copy(update={"limits": CorpusLimits()})

    @property
    def normalizations(self) -> tuple[Normalization, ...]:
        """Normalizations of text, in order, which every reader of text for the model has to repeat.

        Example:

        >>> Cleaning().normalizations[0].form
        'NFC'
        """
        return tuple(form for step in self.steps if (form := step.normalization) is not None)

    @property
    def text_steps(self) -> tuple[tuple[str, ...], ...]:
        """The `text_steps` of all normalizations, in order."""
        return tuple(step for normalization in self.normalizations for step in normalization.text_steps)
