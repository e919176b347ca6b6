"""The files that cleaning steps read: lists of words, evaluation data and references."""

import itertools
import os
from collections.abc import Iterator
from typing import Any

from firth.corpus.curation.step_table import STEPS
from firth.corpus.decontamination.benchmarks import list_benchmark_files
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.hashing import digest
from firth.corpus.io.content_digests import content_digests
from firth.corpus.io.source_files import SourceFile, match_files
from firth.corpus.readers.sources import list_files
from firth.recipes.base.file_names import named_files
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.benchmarks import Benchmark
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import Source


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
