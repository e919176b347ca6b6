"""The newest spans and versions of sources, as TFX counts them in the names of files."""

from tfx.components.example_gen.utils import calculate_splits_fingerprint_span_and_version
from tfx.proto import example_gen_pb2

from firth.corpus import SourceError
from firth.recipes import Recipe
from firth.recipes.base.file_names import named_files, with_wildcards
from firth.recipes.corpus.sources import AnySource
from firth.recipes.reading.raw_recipes import assign
from firth.storage.paths import gfile_of


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
