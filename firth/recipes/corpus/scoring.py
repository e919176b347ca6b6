"""Cleaning steps that score documents by a classifier that others have trained, read from a file."""

from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Fraction
from firth.recipes.corpus.sources import SourceName
from firth.recipes.corpus.step import DescribingStep


class ScoringStep(DescribingStep):
    """Base of the steps that keep or drop a document by the probability that a classifier gives to a label.

    Metadata that they add are the `score`.
    """

    reads_model: ClassVar[bool] = True

    path: Annotated[str, NamesFiles()]
    """Path of the model's file, on any file system. Its content decides, as that of all files that steps
    read, whether earlier results are used again."""
    label: Annotated[str, pydantic.Field(min_length=1)]
    """Label whose probability is a document's score."""
    threshold: Fraction = 0.5
    """Score that decides."""
    keep: Literal["at_least", "below"] = "at_least"
    """Documents that are kept: those of `at_least` the threshold, or those `below` it, where the label is
    that of unwanted text."""
    sources: tuple[SourceName, ...] = ()
    """Names of the sources that are scored; without any, all. Documents of other sources are kept."""
    max_characters: int | None = pydantic.Field(default=None, ge=1)
    """Most characters of a document that are read, from its beginning; without it, all."""

    @property
    def source_names(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        """The sources that are scored."""
        return {"sources": self.sources}


class FastTextStep(ScoringStep):
    """Drops documents by a classifier of fastText (Joulin et al. 2016, arXiv:1607.01759).

    Its file is a `.bin` or `.ftz`, and its labels are those of the model, such as `__label__hq`. Line breaks
    count as spaces, since fastText reads one line.
    """

    kind: Literal["fasttext"]


class ScikitLearnStep(ScoringStep):
    """Drops documents by a classifier of scikit-learn, in a file that `skops.io.dump` has written.

    It takes texts, such as a pipeline of `TfidfVectorizer` and `LogisticRegression`, and has `predict_proba`.
    Pickled models are not read, because unpickling runs whatever code is in a file.
    """

    kind: Literal["scikit_learn"]
    trusted: tuple[str, ...] = ()
    """Names of types in the file that are not scikit-learn's or NumPy's, and may be loaded, such as
    `my_package.MyVectorizer`."""


AnyScoringStep = FastTextStep | ScikitLearnStep
