"""Cleaning steps that look at documents next to one another, or next to evaluation data."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.file_names import PATTERN
from firth.recipes.base.recipe_type import Config, Fraction
from firth.recipes.corpus.benchmarks import Benchmarks
from firth.recipes.corpus.sources import SourceName
from firth.recipes.corpus.step import CleaningStep, DescribingStep

# Hashes of a document; RefinedWeb's 9,000 (Penedo et al. 2023, section 3.3) are the most that was published.
MAX_HASHES = 2**16


class SourcePriority(CleaningStep):
    """Base of the steps that choose between documents."""

    source_priority: tuple[SourceName, ...] = ()
    """Names of sources, the one that wins first. Sources that are not named come after those that are, in the
    order of the recipe."""

    @property
    def source_names(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        """The sources that each key names."""
        return {"source_priority": self.source_priority}


class SentenceDuplicatesStep(SourcePriority):
    """Cuts all but one of the occurrences of a text: that of the first source, then of the smallest id,
    stays.
    """

    kind: Literal["sentence_duplicates"]
    unit: Literal["sentence", "line"] = "sentence"
    """Unit that is compared: sentences, or lines."""
    span: int = pydantic.Field(default=3, ge=1)
    """Number of units one after another whose lowercase words without punctuation must be the same. With 1,
    single sentences or lines are compared."""
    min_words: int = pydantic.Field(default=50, ge=0)
    """Least words of a document after a cut; with fewer it is dropped."""
    min_sentences: int = pydantic.Field(default=3, ge=0)
    """Least sentences of a document after a cut, whatever the unit; with fewer it is dropped."""


class SubstringDuplicatesStep(SourcePriority):
    """Cuts all but one of the occurrences of a stretch of text, wherever in a document it begins and ends.

    The one that stays is that of the first source, then of the smallest id, and there the first in the text.
    """

    kind: Literal["substring_duplicates"]
    unit: Literal["word", "character"] = "word"
    """Unit of a stretch: words, or characters. They must be the same in every letter."""
    window: int = pydantic.Field(default=50, ge=2, le=512)
    """Least units of a stretch; Lee et al. 2022 took 50 tokens."""
    action: Literal["cut", "drop"] = "cut"
    """Treatment of a document with a later occurrence: `cut` cuts the stretch out of it, `drop` drops the
    document, and with it the first occurrences of others that it has."""
    min_words: int = pydantic.Field(default=5, ge=0)
    """Least words of a document after a cut; with fewer it is dropped. Where characters are the unit, least
    characters other than white space."""

    @property
    def anchor(self) -> int:
        """Units of the n-grams by which candidates are found, half a window."""
        return self.window // 2


class ExactDuplicatesStep(SourcePriority, DescribingStep):
    """Drops all but one of the documents whose text is the same, whatever their source.

    The document that is kept is that of the first source, and there that of the smallest id. Metadata that
    it adds are the `cluster`, by the id of the document that is kept of it, and the `cluster_size`.
    """

    kind: Literal["exact_duplicates"]


class Verification(Config):
    """The comparison of two documents that share a bucket by their Jaccard similarity.

    It is the number of word n-grams that both have, divided by the number of those that one of them has, of
    64-bit hashes of the n-grams.
    """

    min_jaccard: Fraction = 0.8
    """Least similarity of two documents that are linked."""
    max_compared: int = pydantic.Field(default=16, ge=1, le=2**10)
    """Most documents of a bucket that each of its documents is compared with. The corpus report counts larger
    buckets, and the pairs that are left out there."""


class MinHashing(SourcePriority, DescribingStep):
    """Base of the steps that compare documents by MinHash.

    Metadata that they add are the `cluster`, by the id of the first document that is kept of it, and the
    `cluster_size`, in documents.

    Two documents that share the share s of their word n-grams are compared with probability 1 - (1 - s^h)^b,
    where h is `hashes_per_bucket` and b is `buckets`: one half at s = 0.69, with the default values.
    """

    ngram_words: int = pydantic.Field(default=5, ge=1)
    """Words of an n-gram, in lowercase and without punctuation."""
    buckets: int = pydantic.Field(default=14, ge=1, le=MAX_HASHES)
    """Number of buckets that a document is put in."""
    hashes_per_bucket: int = pydantic.Field(default=8, ge=1, le=MAX_HASHES)
    """Number of hashes that two documents must share to meet in a bucket."""
    seed: int = pydantic.Field(default=0, ge=0, lt=2**31)
    """Seed of the permutations."""
    rounds: int = pydantic.Field(default=8, ge=1, le=40)
    """Most rounds in which clusters are found. The default is enough for chains of 128 documents of which
    each meets only the next; a corpus that needs more rounds is an error."""
    verification: Verification | None = None
    """Comparison of documents that share a bucket, before they are linked; null links all."""

    @pydantic.model_validator(mode="after")
    def _hashes_fit(self) -> "MinHashing":
        hashes = self.buckets * self.hashes_per_bucket
        if hashes > MAX_HASHES:
            raise ValueError(
                f"buckets: {self.buckets:,} of {self.hashes_per_bucket:,} hashes are {hashes:,} hashes of "
                f"a document; the most are {MAX_HASHES:,}"
            )
        return self


class NearDuplicatesStep(MinHashing):
    """Drops all but one of the documents that are linked by similarity, directly or by others.

    The document that is kept is the longest; among equally long ones that of the first source, and there that
    of the smallest id. None is kept that is linked to a document of an earlier curation.
    """

    kind: Literal["near_duplicates"]
    earlier: Annotated[tuple[str, ...], PATTERN] = ()
    """Files of earlier curations: those of a run's splits, or of a corpus that was exported as Parquet."""


class DatasetDuplicatesStep(MinHashing):
    """Drops documents that are linked by similarity to a source that comes first, or to evaluation data.

    Similar documents of one source stay.
    """

    kind: Literal["dataset_duplicates"]
    benchmarks: Benchmarks = ()
    """Evaluation data; they come before every source."""


class DecontaminateStep(CleaningStep):
    """Drops documents that share a word n-gram with evaluation data, cuts the n-gram, or reports it alone."""

    kind: Literal["decontaminate"]
    benchmarks: Annotated[Benchmarks, pydantic.Field(min_length=1)]
    """Evaluation data."""
    ngram_words: int = pydantic.Field(default=13, ge=1)
    """Words of an n-gram, in lowercase and without punctuation."""
    action: Literal["drop", "cut", "keep"] = "drop"
    """Treatment of a document: `drop` drops it, `cut` cuts the n-grams out of it, `keep` leaves it as it is,
    so that what was found is only reported."""
    margin_characters: int = pydantic.Field(default=200, ge=0)
    """Number of characters before and after each n-gram that are cut too."""
    min_piece_characters: int = pydantic.Field(default=200, ge=0)
    """Least characters between two cuts; a shorter piece is cut too."""


CorpusStep = (
    SentenceDuplicatesStep
    | SubstringDuplicatesStep
    | ExactDuplicatesStep
    | NearDuplicatesStep
    | DatasetDuplicatesStep
    | DecontaminateStep
)
