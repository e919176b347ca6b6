"""Cleaning steps that score documents by a classifier: one that is trained here, or one from a file."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Fraction
from firth.recipes.corpus.sources import AnySource, SourceName
from firth.recipes.corpus.step import DescribingStep

NgramWords = Annotated[int, pydantic.Field(ge=1, le=10)]


class ClassifierStep(DescribingStep):
    """Drops documents that look more like the raw crawl than like a reference.

    The method is GPT-3's (Brown et al. 2020, arXiv:2005.14165, appendix A), with logistic regression on
    counts of hashed words. A score is the probability that a document is of the reference, if both are
    equally many.
    """

    trains_model: ClassVar[bool] = True

    kind: Literal["classifier"]
    reference: tuple[SourceName, ...] = ()
    """Names of sources of the recipe whose documents are good. They are kept without being scored, and do not
    count as crawl."""
    reference_files: tuple[AnySource, ...] = ()
    """Further good documents that are not part of the corpus. No cleaning step changes them, so they should
    look as documents do when they reach this step: otherwise their form alone tells them apart."""
    crawl: tuple[SourceName, ...] = ()
    """Names of the sources that are scored, and a part of which is learnt from. Without any, all sources that
    are not a reference. Documents of other sources are kept without being scored."""
    max_documents: int = pydantic.Field(default=50_000, ge=2)
    """Most documents to learn from, of the reference and of the crawl each, chosen by a hash of their id. One
    worker holds them, as some kilobytes each."""
    max_characters: int = pydantic.Field(default=5_000, ge=1)
    """Most characters of a document that are read, from its beginning, in learning and in scoring."""
    ngram_words: Annotated[tuple[NgramWords, ...], pydantic.Field(min_length=1)] = (1, 2)
    """Lengths of the word n-grams that count. GPT-3 counts single words."""
    buckets: int = pydantic.Field(default=2**18, ge=2, le=2**28)
    """Number of buckets that n-grams are hashed into, and of weights that are learnt. The default is that of
    Spark, which GPT-3 used."""
    l2_penalty: float = pydantic.Field(default=1.0, gt=0.0)
    """L2 penalty on the weights."""
    held_out_fraction: float = pydantic.Field(default=0.1, gt=0.0, lt=1.0)
    """Share of the documents, of the reference and of the crawl each, that is not learnt from but measured
    on, chosen by a hash of their id."""
    keep: Literal["pareto", "threshold"] = "pareto"
    """Rule for keeping a document: `pareto` keeps it if a random number of the Pareto distribution (Lomax's
    form, NumPy's) is above 1 - score, as GPT-3 did, so that some of low score stay. `threshold` keeps it if
    the score is at least the threshold."""
    alpha: float = pydantic.Field(default=9.0, gt=0.0)
    """Shape of the Pareto distribution."""
    threshold: Fraction = 0.5
    """Least score of a document that is kept, with `keep: threshold`."""
    seed: int = pydantic.Field(default=0, ge=0, lt=2**31)
    """Seed of the choice of documents and of the random numbers, which follow from it and a document's id."""

    @pydantic.model_validator(mode="after")
    def _has_two_sides(self) -> "ClassifierStep":
        if not self.reference and not self.reference_files:
            raise ValueError("name a source under reference, or files under reference_files")
        for i, source in enumerate(self.reference_files):
            if source.sample:
                raise ValueError(f"reference_files.{i}.sample: a reference is sampled by max_documents alone")
        both = sorted(set(self.reference) & set(self.crawl))
        if both:
            raise ValueError(f"crawl: {both[0]!r} is a reference too; it can be only one of them")
        return self

    @property
    def source_names(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        """The sources that each key names."""
        return {"reference": self.reference, "crawl": self.crawl}

    @property
    def further_sources(self) -> dict[str, tuple[AnySource, ...]]:  # type: ignore[override]
        """The files of the reference."""
        return {"reference_files": self.reference_files}

    def conflicts(self, sources: Sequence[str]) -> Iterator[tuple[str, str]]:  # noqa: D102
        yield from super().conflicts(sources)
        if not set(self.crawl or sources) - set(self.reference):
            yield "reference", "names all sources, so no source is left to score"


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
