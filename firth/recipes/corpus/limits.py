"""Limits of a cleaned corpus, beyond which the pipeline stops."""

import pydantic

from firth.recipes.base.recipe_type import Config, Fraction


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
