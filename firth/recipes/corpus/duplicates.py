"""Cleaning steps that look at documents next to one another, or next to evaluation data."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.benchmarks import Benchmarks
from firth.recipes.corpus.sources import SourceName

# Hashes of a document; RefinedWeb's 9,000 (Penedo et al. 2023, section 3.3) are the most that was published.
MAX_HASHES = 2**16


class SourcePriority(Config):
    """What steps that choose between documents state.

    Attributes:
        source_priority: Names of sources, the one that wins first. Sources that are not named come after
            those that are, in the order of the recipe.
    """

    source_priority: tuple[SourceName, ...] = ()

    @property
    def source_names(self) -> dict[str, tuple[str, ...]]:
        """The sources that each key names."""
        return {"source_priority": self.source_priority}


class SentenceDuplicatesStep(SourcePriority):
    """Cuts text that stands in several places, all but the first: of the first source, then the smallest id.

    Attributes:
        unit: What is compared: sentences, or lines.
        span: So many units one after another, by their lowercase words without punctuation, are the same.
            With 1 it is single sentences, or lines.
        min_words: A document of which something was cut is dropped if it has fewer left.
        min_sentences: The same, of sentences, whatever the unit.
    """

    kind: Literal["sentence_duplicates"]
    unit: Literal["sentence", "line"] = "sentence"
    span: int = pydantic.Field(default=3, ge=1)
    min_words: int = pydantic.Field(default=50, ge=0)
    min_sentences: int = pydantic.Field(default=3, ge=0)


class ExactDuplicatesStep(SourcePriority):
    """Drops all but one of the documents whose text is the same, whatever their source.

    The survivor is the one of the first source, and there the one of the smallest id.
    """

    kind: Literal["exact_duplicates"]


class MinHashing(SourcePriority):
    """What steps that compare documents by MinHash state.

    Documents that share the share s of their word n-grams meet with probability 1 - (1 - s^h)^b, where h is
    `hashes_per_bucket` and b is `buckets`: half of those with s = 0.69, by the default values.

    Attributes:
        ngram_words: In lowercase and without punctuation.
        buckets: Groups of hashes; two documents meet where all hashes of one group are equal.
        hashes_per_bucket: Hashes of a group.
        seed: Of the permutations.
        rounds: In which clusters are found. The default is enough for chains of 128 documents of which each
            meets only the next; where it is not, that is an error.
    """

    ngram_words: int = pydantic.Field(default=5, ge=1)
    buckets: int = pydantic.Field(default=14, ge=1, le=MAX_HASHES)
    hashes_per_bucket: int = pydantic.Field(default=8, ge=1, le=MAX_HASHES)
    seed: int = pydantic.Field(default=0, ge=0, lt=2**31)
    rounds: int = pydantic.Field(default=8, ge=1, le=40)

    @pydantic.model_validator(mode="after")
    def _hashes_fit(self):
        hashes = self.buckets * self.hashes_per_bucket
        if hashes > MAX_HASHES:
            raise ValueError(
                f"buckets: {self.buckets:,} of {self.hashes_per_bucket:,} hashes are {hashes:,} hashes of "
                f"a document; the most are {MAX_HASHES:,}"
            )
        return self


class NearDuplicatesStep(MinHashing):
    """Drops all but one of the documents that are linked by similarity, directly or by others.

    The survivor is the longest, among equally long the one of the first source, and there the one of the
    smallest id.
    """

    kind: Literal["near_duplicates"]


class DatasetDuplicatesStep(MinHashing):
    """Drops documents that are linked by similarity to a source that comes first, or to evaluation data.

    What is similar within one source stays.

    Attributes:
        benchmarks: Evaluation data; they come before every source.
    """

    kind: Literal["dataset_duplicates"]
    benchmarks: Benchmarks = ()


class DecontaminateStep(Config):
    """Drops documents that share a word n-gram with evaluation data, or cuts the place.

    Attributes:
        benchmarks: The evaluation data.
        ngram_words: In lowercase and without punctuation.
        action: `drop` drops the document, `cut` cuts the n-grams out of it.
        margin_characters: Cut before and after each n-gram too.
        min_piece_characters: What is left between two cuts is cut too if it is shorter.
    """

    kind: Literal["decontaminate"]
    benchmarks: Annotated[Benchmarks, pydantic.Field(min_length=1)]
    ngram_words: int = pydantic.Field(default=13, ge=1)
    action: Literal["drop", "cut"] = "drop"
    margin_characters: int = pydantic.Field(default=200, ge=0)
    min_piece_characters: int = pydantic.Field(default=200, ge=0)


CorpusStep = (
    SentenceDuplicatesStep
    | ExactDuplicatesStep
    | NearDuplicatesStep
    | DatasetDuplicatesStep
    | DecontaminateStep
)
