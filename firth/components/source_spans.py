"""The newest spans and versions of sources, as TFX counts them in the names of files."""

from collections.abc import Sequence

from tfx.components.example_gen.utils import calculate_splits_fingerprint_span_and_version
from tfx.proto import example_gen_pb2

from firth.corpus import SourceError
from firth.recipes.base.file_names import named_files, with_wildcards
from firth.recipes.corpus.sources import AnySource
from firth.recipes.reading.raw_recipes import assign
from firth.storage.paths import gfile_of


def at_newest_spans(sources: Sequence[AnySource]) -> tuple[AnySource, ...]:
    """Returns sources in whose paths `{SPAN}`, `{VERSION}`, `{YYYY}`, `{MM}` and `{DD}` are numbers.

    They are those of the newest span that has files, and of its newest version, the same in all paths of a
    source.

    Args:
        sources: Sources of a recipe.

    Raises:
        SourceError: if no file has such a name, one has no number there, or the newest of two paths differ.
    """
    return tuple(_at_newest_span(source) for source in sources)


def _at_newest_span(source: AnySource) -> AnySource:
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
        raise SourceError(f"source {source.name}: no newest span of {patterns}: {error}") from error
    data = source.model_dump(mode="json")
    for file, split in zip(named, splits):
        data = assign(data, file.key, split.pattern)
    return type(source).of(data)
