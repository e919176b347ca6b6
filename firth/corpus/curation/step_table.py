"""The table of the cleaning steps, by their kinds in a recipe, and the files that steps read."""

import itertools
import os
from collections.abc import Iterator
from typing import Any

from firth.corpus.decontamination.benchmarks import list_benchmark_files
from firth.corpus.decontamination.decontaminate import Decontaminate
from firth.corpus.dedup.exact_duplicates import ExactDuplicates
from firth.corpus.dedup.near_duplicates import DatasetDuplicates, NearDuplicates
from firth.corpus.dedup.sentence_duplicates import SentenceDuplicates
from firth.corpus.dedup.substring_duplicates import SubstringDuplicates
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.steps import StepFactory
from firth.corpus.filters.bad_words import BadWords
from firth.corpus.filters.c4 import C4
from firth.corpus.filters.characters import Characters
from firth.corpus.filters.domain_rules import DomainRules
from firth.corpus.filters.fineweb import FineWeb
from firth.corpus.filters.gopher_quality import GopherQuality
from firth.corpus.filters.gopher_repetition import GopherRepetition
from firth.corpus.filters.gutenberg import Gutenberg
from firth.corpus.filters.language import Language
from firth.corpus.filters.length import Length
from firth.corpus.filters.normalize import Normalize
from firth.corpus.filters.url_lists import UrlLists
from firth.corpus.io.content_digests import content_digests
from firth.corpus.io.source_files import SourceFile, match_files
from firth.corpus.privacy.pii import Pii
from firth.corpus.quality.classifier import Classifier
from firth.corpus.quality.scoring_models import FastText, ScikitLearn
from firth.corpus.readers.sources import list_files
from firth.recipes.base.file_names import named_files
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.benchmarks import Benchmark
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import Source

STEPS: dict[str, StepFactory] = {
    "normalize": Normalize,
    "length": Length,
    "characters": Characters,
    "gutenberg": Gutenberg,
    "c4": C4,
    "gopher_quality": GopherQuality,
    "gopher_repetition": GopherRepetition,
    "fineweb": FineWeb,
    "language": Language,
    "bad_words": BadWords,
    "url_lists": UrlLists,
    "domain_rules": DomainRules,
    "pii": Pii,
    "sentence_duplicates": SentenceDuplicates,
    "substring_duplicates": SubstringDuplicates,
    "exact_duplicates": ExactDuplicates,
    "near_duplicates": NearDuplicates,
    "dataset_duplicates": DatasetDuplicates,
    "decontaminate": Decontaminate,
    "classifier": Classifier,
    "fasttext": FastText,
    "scikit_learn": ScikitLearn,
}
"""The steps of the cleaning, by the kind in a recipe."""


def files_digest(cleaning: Cleaning) -> str:
    """Returns 32 hexadecimal digits that change when a file that a step reads changes.

    The digest depends on the names and the contents of the files. It is "" if no step reads a file.

    Args:
        cleaning: The cleaning of the recipe.

    Raises:
        CorpusError: if a file does not exist or cannot be read.

    Example:

    >>> files_digest(Cleaning())
    ''
    """
    files = list(dict.fromkeys(_files_of(cleaning.steps)))
    parts: list[str | bytes] = []
    for file, content in zip(files, content_digests(files), strict=True):
        if isinstance(content, OSError):
            raise CorpusError(f"{file.path}, which a cleaning step reads, cannot be read: {content}")
        parts += [file.place, content]
    return digest(*parts).hex() if parts else ""


def check_models(cleaning: Cleaning) -> None:
    """Reads the models that others have trained for steps, to refuse what cannot be used before any data.

    Args:
        cleaning: The cleaning of the recipe.

    Raises:
        CorpusError: if a model is not there, cannot be read, or has no such label.
    """
    for step in cleaning.steps:
        if step.reads_model:
            STEPS[step.kind](step)


def _files_of(part: Any) -> Iterator[SourceFile]:
    """Yields all files that a part of the recipe names."""
    if isinstance(part, Benchmark):
        yield from list_benchmark_files(part)  # type: ignore[arg-type]
    elif isinstance(part, Source):
        yield from list_files(part)  # type: ignore[arg-type]
    elif isinstance(part, Config):
        parts = [getattr(part, name) for name in type(part).model_fields]
        within = {file.pattern for each in parts for file in named_files(each)}
        named = [file for file in named_files(part) if file.pattern not in within]
        for is_pattern, of_kind in itertools.groupby(named, lambda file: file.mark.is_pattern):
            paths = [file.pattern for file in of_kind]
            if is_pattern:
                yield from match_files(str(getattr(part, "kind", "cleaning")), paths)
            else:
                yield from (SourceFile(path, os.path.basename(path)) for path in paths)
        for each in parts:
            yield from _files_of(each)
    elif isinstance(part, tuple):
        for each in part:
            yield from _files_of(each)
