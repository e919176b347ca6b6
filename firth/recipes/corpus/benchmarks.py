"""Evaluation data that a corpus must not contain, where a recipe names it."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.sources import Paths, SourceName

Names = Annotated[tuple[str, ...], pydantic.Field(min_length=1)]


class Benchmark(Config):
    """Base of the kinds of evaluation data."""

    name: SourceName
    """Name in the report's rows."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of the names of its files."""
        raise NotImplementedError


class FileBenchmark(Benchmark):
    """Base of the kinds whose files are named one by one."""

    paths: Paths
    """Patterns of file names, on any file system that Beam reads."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of the names of its files."""
        return self.paths


class TextBenchmark(FileBenchmark):
    """Plain text files, optionally compressed, one example a line or one a file."""

    kind: Literal["text"]
    examples: Literal["line", "file"] = "line"
    """Unit of one example: a `line`, or a whole `file`."""


class JsonlBenchmark(FileBenchmark):
    """Files of one JSON object a line, optionally compressed."""

    kind: Literal["jsonl"]
    text_keys: Names = ("text",)
    """Keys of an example's text, in this order; the items of a list are joined."""
    id_key: str | None = None
    """Key of the example's id. Without it, the id is file and line."""


class CsvBenchmark(FileBenchmark):
    """Files of separated values whose first line names the columns, optionally compressed."""

    kind: Literal["csv"]
    text_columns: Names
    """Columns of an example's text, in this order."""
    id_column: str | None = None
    """Column of the example's id. Without it, the id is file and line."""
    delimiter: str = pydantic.Field(default=",", pattern=r'^[^\r\n"\x00]$')
    """Character between two fields, a tab for instance; not a quotation mark or a line end."""
    quoted: bool = True
    """True if fields may be in quotation marks. In GLUE's files, these are part of the text."""


class ExamplesBenchmark(Benchmark):
    """The URI of TFX's Examples: a folder of gzipped TFRecord files of tf.train.Example, in splits or not."""

    kind: Literal["examples"]
    uri: Annotated[str, NamesFiles(is_folder=True)]
    """Folder of TFRecord files; files in folders below it count too."""
    text_features: Names = ("text",)
    """Bytes features of an example's text, in this order."""
    id_feature: str | None = None
    """Feature of the example's id. Without it, the id is file and number."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of the names of the files in the folder and below it."""
        return (f"{self.uri.rstrip('/')}/**.gz",)


AnyBenchmark = Annotated[
    TextBenchmark | JsonlBenchmark | CsvBenchmark | ExamplesBenchmark, pydantic.Field(discriminator="kind")
]


def check_names_differ(benchmarks: tuple[AnyBenchmark, ...]) -> tuple[AnyBenchmark, ...]:
    """Returns the benchmarks, if each has a name of its own."""
    names = [benchmark.name for benchmark in benchmarks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"several benchmarks are called {', '.join(twice)}; give each its own name")
    return benchmarks


Benchmarks = Annotated[tuple[AnyBenchmark, ...], pydantic.AfterValidator(check_names_differ)]
