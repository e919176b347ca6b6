"""Which files of documents go into which file of an output."""

from collections.abc import Iterator
from typing import NamedTuple

from firth.corpus.documents.batching import in_batches
from firth.corpus.documents.errors import EmptyCorpusError
from firth.corpus.io.records import record_files
from firth.recipes.corpus.outputs import AnyOutput


class Shard(NamedTuple):
    """One file of an output.

    Attributes:
        output: The output of the recipe.
        split: Split of its documents.
        name: Path in the folder of the output.
        paths: TFRecord files of the documents, in order.
    """

    output: AnyOutput
    split: str
    name: str
    paths: tuple[str, ...]


def plan_shards(output: AnyOutput, split: str, pattern: str) -> Iterator[Shard]:
    """Yields the files of one split: `train/train-00000-of-00012.parquet` and so on."""
    found = record_files(pattern)
    if not found:
        raise EmptyCorpusError(f"the {split} split has no file of documents: nothing matches {pattern!r}")
    parts = [each for each in in_batches(found, output.shard_bytes, lambda file: file[1]) if each]
    for number, part in enumerate(parts):
        yield Shard(output, split, _name(output, split, number, len(parts)), tuple(path for path, _ in part))


def _name(output: AnyOutput, split: str, number: int, count: int) -> str:
    return f"{split}/{split}-{number:05d}-of-{count:05d}{output.file_ending}"
