"""Spans and digests of the files that a pipeline reads, so that a changed file reruns what reads it."""

import dataclasses
from collections.abc import Callable, Sequence

from tfx.components.example_gen.utils import calculate_splits_fingerprint_span_and_version
from tfx.proto import example_gen_pb2

from firth import storage
from firth.corpus import SourceError, check_models, files_digest, fingerprint
from firth.recipes import Recipe
from firth.recipes.base.file_names import named_files, with_wildcards
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import AnySource
from firth.recipes.reading.raw_recipes import assign
from firth.recipes.tasks.data import AnyLabelledData
from firth.storage.paths import gfile_of
from firth.tasks.labelled.data import fingerprint as data_fingerprint


def at_newest_spans(recipe: Recipe) -> Recipe:
    """Returns a recipe with numbers for `{SPAN}`, `{VERSION}`, `{YYYY}` and the like in its sources' paths.

    They are those of the newest span that has files, and of its newest version, the same in all paths of a
    source. Sources that cleaning steps read next to the corpus have numbers too, each its own.

    Raises:
        SourceError: if no file has such a name, one has no number there, or the newest of two paths differ.
    """
    sources = tuple(_at_newest_span(source, f"source {source.name}") for source in recipe.sources)
    steps = tuple(
        step.model_copy(
            update={
                key: tuple(
                    _at_newest_span(source, f"cleaning.steps.{place}.{key}.{number}")
                    for number, source in enumerate(further)
                )
                for key, further in step.further_sources.items()
            }
        )
        for place, step in enumerate(recipe.cleaning.steps)
    )
    cleaning = recipe.cleaning.model_copy(update={"steps": steps})
    return recipe.model_copy(update={"sources": sources, "cleaning": cleaning})


def _at_newest_span(source: AnySource, place: str) -> AnySource:
    named = [file for file in named_files(source) if with_wildcards(file.pattern) != file.pattern]
    if not named:
        return source
    splits = [example_gen_pb2.Input.Split(name=file.pattern, pattern=file.pattern) for file in named]
    for file in named:
        gfile_of(file.pattern)
    try:
        calculate_splits_fingerprint_span_and_version("", splits)
    except ValueError as error:
        patterns = ", ".join(file.pattern for file in named)
        raise SourceError(f"{place}: no newest span of {patterns}: {error}") from error
    data = source.model_dump(mode="json")
    for file, split in zip(named, splits):
        data = assign(data, file.key, split.pattern)
    return type(source).of(data)


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
