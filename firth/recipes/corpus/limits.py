"""What cleaning may make of a corpus: beyond these limits the pipeline stops."""

import pydantic

from firth.recipes.base.recipe_type import Config, Fraction


class StepLimit(Config):
    """What one step may drop.

    Attributes:
        step: Its name in the report: its kind, and `length_2` for the second of a kind.
        max_dropped_fraction: Of the documents that come into the step.
    """

    step: str
    max_dropped_fraction: Fraction


class CorpusLimits(Config):
    """Bounds that a cleaned corpus must keep; the defaults bound nothing.

    They are checked after the cleaning, which a change of them does not repeat.

    Attributes:
        max_dropped_fraction: Of the documents that come into the cleaning, what all steps together drop.
        max_rejected_fraction: Of the records of all sources, what cannot be read.
        max_source_fraction: Of the bytes that are left, what is of one source, whichever it is.
        max_eval_fraction: Of the bytes that are left, what is held out. Documents are held out whole, so that
            of few it may be many times `split.eval_fraction`.
        min_documents: That are left.
        steps: Limits of single steps.
    """

    max_dropped_fraction: Fraction = 1.0
    max_rejected_fraction: Fraction = 1.0
    max_source_fraction: Fraction = 1.0
    max_eval_fraction: Fraction = 1.0
    min_documents: int = pydantic.Field(default=0, ge=0)
    steps: tuple[StepLimit, ...] = ()
