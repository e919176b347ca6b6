"""Spans and digests of the files that a pipeline reads, so that a changed file reruns what reads it."""

import dataclasses
from collections.abc import Callable, Sequence

from firth import storage
from firth.components.source_spans import at_newest_spans
from firth.corpus import SourceError, check_models, files_digest, fingerprint
from firth.recipes import Recipe
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import AnySource
from firth.recipes.tasks.data import AnyLabelledData
from firth.tasks.labelled.data import fingerprint as data_fingerprint


def schema_digest(path: str) -> str:
    """Returns the digest of a pinned schema.

    Raises:
        SourceError: if there is no such file.
    """
    return _digest("source_schema", path)


def requests_digest(path: str) -> str:
    """Returns the digest of a file of requests.

    Raises:
        SourceError: if there is no such file.
    """
    return _digest("requests", path)


def _digest(key: str, path: str) -> str:
    if not storage.exists(path):
        raise SourceError(f"{key}: there is no file {path}")
    return storage.digest_of(path).hex()


def cleaning_digest(cleaning: Cleaning) -> str:
    """Returns the digest of the files that cleaning steps read, whose models can be used.

    Raises:
        firth.corpus.CorpusError: if a file is not there, or a model cannot be used.
    """
    check_models(cleaning)
    return files_digest(cleaning)


@dataclasses.dataclass(frozen=True)
class FileDigests:
    """The functions that name and digest a pipeline's files as they are when the pipeline is made.

    Attributes:
        newest: Function from a recipe to that with the newest spans of its sources.
        of_sources: Function of the sources of such a recipe.
        of_cleaning: Function of its cleaning, for the files that steps read.
        of_data: Function of labelled data.
        of_schema: Function of the path of a pinned schema.
        of_requests: Function of the path of a file of requests.
    """

    newest: Callable[[Recipe], Recipe] = at_newest_spans
    of_sources: Callable[[Sequence[AnySource]], str] = fingerprint
    of_cleaning: Callable[[Cleaning], str] = cleaning_digest
    of_data: Callable[[AnyLabelledData], str] = data_fingerprint
    of_schema: Callable[[str], str] = schema_digest
    of_requests: Callable[[str], str] = requests_digest


FILES = FileDigests()
# For a pipeline that is compiled on a machine that may not have its files.
UNREAD = FileDigests(lambda recipe: recipe, *(5 * [lambda _: ""]))
