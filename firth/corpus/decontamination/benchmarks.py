"""Readers of benchmarks, whose examples are kept out of a corpus."""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.document import Document, document_id
from firth.corpus.documents.errors import SourceError
from firth.corpus.documents.example import Example
from firth.corpus.io.file_contents import read_lines
from firth.corpus.io.records import read_records
from firth.corpus.io.source_files import SourceFile, match_files
from firth.recipes.corpus.benchmarks import (
    AnyBenchmark,
    CsvBenchmark,
    ExamplesBenchmark,
    JsonlBenchmark,
    TextBenchmark,
)

MAX_LINE_BYTES = 2**26
EXAMPLES_A_BATCH = 1000


class BenchmarkExample(NamedTuple):
    """An example of a benchmark.

    Attributes:
        benchmark: Name of the benchmark in the recipe.
        id: Id of the example in the benchmark; name of the file and line if the example has no id.
        text: The parts of the example that the recipe names, joined by spaces.
    """

    benchmark: str
    id: str
    text: str


def list_benchmark_files(benchmark: AnyBenchmark) -> list[SourceFile]:
    """Returns the files of a benchmark, each once, sorted by path."""
    files = match_files(benchmark.name, benchmark.patterns)
    for file in files:
        if file.problem:
            raise SourceError(f"benchmark {benchmark.name!r}: {file.path}: {file.problem}")
    return files


def read_benchmark(benchmark: AnyBenchmark, file: SourceFile) -> Iterator[BenchmarkExample]:
    """Yields the examples in one file of a benchmark."""
    try:
        for place, id, parts in _READERS[benchmark.kind](benchmark, file):
            yield BenchmarkExample(benchmark.name, id or place, " ".join(parts))
    except (OSError, EOFError, ValueError) as error:
        raise SourceError(f"benchmark {benchmark.name!r}: {error}") from error


def _read_text(benchmark: TextBenchmark, file: SourceFile) -> Iterator[tuple[str, str, list[str]]]:
    lines = _lines(file)
    if benchmark.examples == "file":
        yield file.place, "", ["\n".join(line for _, line in lines)]
        return
    for place, line in lines:
        if line.strip():
            yield place, "", [line]


def _read_jsonl(benchmark: JsonlBenchmark, file: SourceFile) -> Iterator[tuple[str, str, list[str]]]:
    for place, line in _lines(file):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            id = str(record[benchmark.id_key]) if benchmark.id_key else ""
            yield place, id, [_text(record[key]) for key in benchmark.text_keys]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{place}: {error!r}") from error


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = list(value.values())
    return " ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _read_csv(benchmark: CsvBenchmark, file: SourceFile) -> Iterator[tuple[str, str, list[str]]]:
    # All readers of the process share the limit; an example may be a whole article.
    csv.field_size_limit(sys.maxsize)
    rows = csv.DictReader(
        (f"{line}\n" for _, line in _lines(file)),
        delimiter=benchmark.delimiter,
        quoting=csv.QUOTE_MINIMAL if benchmark.quoted else csv.QUOTE_NONE,
        strict=True,
    )
    wanted = [*benchmark.text_columns, *([benchmark.id_column] if benchmark.id_column else [])]
    missing = [column for column in wanted if column not in (rows.fieldnames or ())]
    if missing:
        raise ValueError(f"{file.place} has no column {missing[0]!r}, only {rows.fieldnames}")
    for place, row in _csv_rows(file.place, rows):
        if any(row[column] is None for column in wanted):
            raise ValueError(f"{place}: too few columns")
        id = row[benchmark.id_column] if benchmark.id_column else ""
        yield place, id, [row[column] for column in benchmark.text_columns]


def _csv_rows(name: str, rows: "csv.DictReader[str]") -> Iterator[tuple[str, dict[str, str]]]:
    try:
        for row in rows:
            yield f"{name}#L{rows.line_num}", row
    except csv.Error as error:
        raise ValueError(
            f"{name}#L{rows.line_num + 1}: {error}; where quotation marks do not enclose fields, say "
            "quoted: false"
        ) from error


def _read_examples(benchmark: ExamplesBenchmark, file: SourceFile) -> Iterator[tuple[str, str, list[str]]]:
    for number, record in enumerate(read_records(file.path), 1):
        features = Example.FromString(record).features.feature

        def values(name: str, features: Any = features) -> list[str]:
            if name not in features:
                raise ValueError(f"{file.place} has no feature {name!r}, only {sorted(features)}")
            return [value.decode("utf-8") for value in features[name].bytes_list.value]

        id = " ".join(values(benchmark.id_feature)) if benchmark.id_feature else ""
        yield (
            f"{file.place}#{number}",
            id,
            [text for name in benchmark.text_features for text in values(name)],
        )


_READERS: dict[str, Callable[[Any, SourceFile], Iterator[tuple[str, str, list[str]]]]] = {
    "text": _read_text,
    "jsonl": _read_jsonl,
    "csv": _read_csv,
    "examples": _read_examples,
}


def _lines(file: SourceFile) -> Iterator[tuple[str, str]]:
    """Yields the place (`a.txt#L1`) and the text of each line."""
    for line in read_lines(file.path, MAX_LINE_BYTES):
        place = f"{file.place}#L{line.number}"
        if line.problem:
            raise ValueError(f"{place}: {line.problem}")
        try:
            yield place, line.data.decode("utf-8-sig" if line.number == 1 else "utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise ValueError(f"{place}: {error}") from error


@beam.ptransform_fn
def ReadBenchmarks(
    pipeline: beam.Pipeline, benchmarks: Sequence[AnyBenchmark]
) -> PCollection[list[Document]]:
    """Reads benchmarks as lists of documents, whose source is the name of the benchmark.

    Raises:
        SourceError: when applied, if a benchmark has no file; on a worker, as in `read_benchmark`.
    """
    files = [(each, file) for each in benchmarks for file in list_benchmark_files(each)]
    return pipeline | "Files" >> beam.Create(files) | "Read" >> beam.FlatMapTuple(_read_documents)


def _read_documents(benchmark: AnyBenchmark, file: SourceFile) -> Iterator[list[Document]]:
    return split_into_batches(_documents(benchmark, file), EXAMPLES_A_BATCH)


def _documents(benchmark: AnyBenchmark, file: SourceFile) -> Iterator[Document]:
    for number, example in enumerate(read_benchmark(benchmark, file)):
        id = document_id(f"benchmark {benchmark.name}", f"{file.place} {number}")
        yield Document(id, example.text, example.benchmark, "", example.id)
