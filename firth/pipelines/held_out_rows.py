"""The held-out rows of a run that is on disk."""

import os

from firth import storage
from firth.pipelines.results import SUMMARY_FILE
from firth.training.held_out import first_rows

_SPLIT = "Split-eval"


def held_out_rows(run_dir: str | os.PathLike[str], count: int) -> list[bytes]:
    """Returns the first rows that a run's model was evaluated on, serialized; none if the run has none.

    Args:
        run_dir: Folder of the run.
        count: Most rows.

    Raises:
        firth.training.held_out.RowsError: naming a file that cannot be read.
    """
    summary = storage.read_json(os.path.join(run_dir, SUMMARY_FILE)) or {}
    for outputs in summary.get("outputs", {}).values():
        examples = outputs.get("examples", "")
        # Rows stand next to the tokenizer that they were made with; the examples before them do not.
        if examples and storage.is_folder(os.path.join(examples, "tokenizer")):
            return first_rows([os.path.join(examples, _SPLIT, "*")], count)
    return []
