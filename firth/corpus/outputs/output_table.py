"""The table of the formats that a cleaned corpus is given out in."""

from collections.abc import Callable

from firth.corpus.outputs.jsonl_output import write_jsonl
from firth.corpus.outputs.parquet_output import write_parquet

# Function of the output's type in the recipe, an open file, the documents and their split; and True if the
# metadata of documents are written too.
Write = Callable[..., None]

OUTPUTS: dict[str, Write] = {
    "parquet": write_parquet,
    "jsonl": write_jsonl,
}
