"""The formats in which a cleaned corpus is given to others."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import Config


class CorpusOutput(Config):
    """Base of the formats."""

    kind: str
    shard_bytes: int = pydantic.Field(default=2**27, ge=1)
    """Bytes of the documents of one file, compressed with gzip as the cleaning leaves them. A file ends after
    the group of documents that reaches them; a group has 8 MiB or less. So many bytes lead to the same files
    on any number of workers."""

    @property
    def file_ending(self) -> str:
        """Ending of the names of the files, with its dot."""
        raise NotImplementedError


class ParquetOutput(CorpusOutput):
    """Parquet files, which `datasets`, Spark, DuckDB and the source `parquet` read."""

    file_ending: ClassVar[str] = ".parquet"
    """`.parquet`, since the pages are compressed, not the file."""

    kind: Literal["parquet"]
    compression: Literal["zstd", "snappy", "gzip", "none"] = "zstd"
    """Codec of the pages."""


class JsonlOutput(CorpusOutput):
    """Files of one JSON object a line, which the source `jsonl` reads."""

    endings: ClassVar[dict[str, str]] = {"gzip": ".jsonl.gz", "zstd": ".jsonl.zst", "none": ".jsonl"}

    kind: Literal["jsonl"]
    compression: Literal["gzip", "zstd", "none"] = "gzip"
    """Compression of the whole file."""

    @property
    def file_ending(self) -> str:
        """`.jsonl`, followed by the ending of the compression."""
        return self.endings[self.compression]


def _each_once(outputs: "tuple[AnyOutput, ...]") -> "tuple[AnyOutput, ...]":
    kinds = [output.kind for output in outputs]
    for number, kind in enumerate(kinds):
        if kind in kinds[:number]:
            raise ValueError(f"{kind}, number {number + 1}, is there already; give each kind once")
    return outputs


AnyOutput = Annotated[ParquetOutput | JsonlOutput, pydantic.Field(discriminator="kind")]
Outputs = Annotated[tuple[AnyOutput, ...], pydantic.AfterValidator(_each_once)]
_OUTPUTS: pydantic.TypeAdapter[tuple[AnyOutput, ...]] = pydantic.TypeAdapter(Outputs)


def outputs_to_json(outputs: Sequence[AnyOutput]) -> str:
    """Returns the formats as a JSON array, fit to be an execution property."""
    return _OUTPUTS.dump_json(tuple(outputs)).decode("utf-8")


def outputs_from_json(text: str) -> tuple[AnyOutput, ...]:
    """Returns the formats that `outputs_to_json` wrote.

    Raises:
        pydantic.ValidationError: if the text does not describe formats, or one of them twice.

    Example:

    >>> outputs_from_json('[{"kind": "jsonl", "compression": "zstd"}]')[0].file_ending
    '.jsonl.zst'
    """
    return _OUTPUTS.validate_json(text)
