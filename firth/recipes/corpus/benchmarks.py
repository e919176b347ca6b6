"""Evaluation data that a corpus must not contain, where a recipe names it."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.sources import Paths, SourceName

Names = Annotated[tuple[str, ...], pydantic.Field(min_length=1)]


class Benchmark(Config):
    """What every benchmark states.

    Attributes:
        name: Stands in the report's rows.
    """

    name: SourceName


class TextBenchmark(Benchmark):
    """Plain text files, optionally compressed, one example a line or one a file.

    Attributes:
        paths: Patterns of file names, on any file system that Beam reads.
        examples: What one example is: a `line`, or a whole `file`.
    """

    kind: Literal["text"]
    paths: Paths
    examples: Literal["line", "file"] = "line"


class JsonlBenchmark(Benchmark):
    """Files of one JSON object a line, optionally compressed.

    Attributes:
        paths: Patterns of file names, on any file system that Beam reads.
        text_keys: An example's text is what stands under these, in this order; what is a list is its items.
        id_key: Under which the example's id stands. Without it, the id is file and line.
    """

    kind: Literal["jsonl"]
    paths: Paths
    text_keys: Names = ("text",)
    id_key: str | None = None


class CsvBenchmark(Benchmark):
    """Files of separated values whose first line names the columns, optionally compressed.

    Attributes:
        paths: Patterns of file names, on any file system that Beam reads.
        text_columns: An example's text is what stands in these, in this order.
        id_column: Where the example's id stands. Without it, the id is file and line.
        delimiter: One character, a tab for instance; no quotation mark and no line end.
        quoted: Whether fields may stand in quotation marks. In GLUE's files these are part of the text.
    """

    kind: Literal["csv"]
    paths: Paths
    text_columns: Names
    id_column: str | None = None
    delimiter: str = pydantic.Field(default=",", pattern=r'^[^\r\n"\x00]$')
    quoted: bool = True


class ExamplesBenchmark(Benchmark):
    """The URI of TFX's Examples: a folder of gzipped TFRecord files of tf.train.Example, in splits or not.

    Attributes:
        uri: A folder; files in folders below it count too.
        text_features: An example's text is what stands in these bytes features, in this order.
        id_feature: Where the example's id stands. Without it, the id is file and number.
    """

    kind: Literal["examples"]
    uri: Annotated[str, NamesFiles(is_folder=True)]
    text_features: Names = ("text",)
    id_feature: str | None = None


AnyBenchmark = Annotated[
    TextBenchmark | JsonlBenchmark | CsvBenchmark | ExamplesBenchmark, pydantic.Field(discriminator="kind")
]


def check_names_differ(benchmarks: tuple[AnyBenchmark, ...]) -> tuple[AnyBenchmark, ...]:
    """Returns the benchmarks.

    Raises:
        ValueError: if two have one name.
    """
    names = [benchmark.name for benchmark in benchmarks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several benchmarks are called {', '.join(twice)}; give each its own name")
    return benchmarks


Benchmarks = Annotated[tuple[AnyBenchmark, ...], pydantic.AfterValidator(check_names_differ)]
