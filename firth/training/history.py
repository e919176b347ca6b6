"""The curve of a run: one line a logged step, in JSON and in TensorBoard."""

import json
import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from firth import storage

# Fields of the run's progress, which are not drawn over the steps.
_PROGRESS = ("step", "tokens", "seconds")
HISTORY_FILE = "history.jsonl"
SAMPLES, HELD_OUT_LOSS = "samples", "held_out_loss"


class History:
    """Lines of a run's curve, each step once, however often the run was killed and started again.

    The lines are kept next to the checkpoints, and written again to each run directory, because a restarted
    pipeline gives the run a new one.
    """

    def __init__(self, kept_directory: str, run_directory: str, step: int) -> None:
        self._lines = [line for line in read_history(kept_directory) if line["step"] <= step]
        self._directories = kept_directory, run_directory
        self._files = self._begun()
        _remove_events(run_directory)
        self._writer = tf.summary.create_file_writer(run_directory)
        for line in self._lines:
            self._write_scalars(line)

    def _begun(self) -> list[storage.GrowingText]:
        text = "".join(map(_as_text, self._lines))
        return [storage.GrowingText(os.path.join(each, HISTORY_FILE), text) for each in self._directories]

    @property
    def last(self) -> dict[str, Any] | None:
        """The last line before the run resumes; None without any."""
        return self._lines[-1] if self._lines else None

    def complete(self, values: Mapping[str, Any]) -> None:
        """Adds values to the last line before the run resumes, before another is appended."""
        self._lines[-1] |= values
        self._files = self._begun()
        self._write_scalars({"step": self._lines[-1]["step"], **values})

    def append(self, line: dict[str, Any]) -> None:
        """Adds the line of one step; a local file has it on return."""
        for file in self._files:
            file.append(_as_text(line))
        self._write_scalars(line)

    def flush(self) -> None:
        """Writes all lines to buckets too."""
        for file in self._files:
            file.flush()
        self._writer.flush()

    def close(self) -> None:
        """Writes all lines and closes the event file."""
        self.flush()
        self._writer.close()

    def _write_scalars(self, line: Mapping[str, Any]) -> None:
        with self._writer.as_default(step=line["step"]):
            for name in line.keys() - {*_PROGRESS, SAMPLES}:
                if line[name] is not None:
                    tf.summary.scalar(name, line[name])
            if line.get(SAMPLES):
                tf.summary.text(SAMPLES, [_sample_text(sample) for sample in line[SAMPLES]])


def _sample_text(sample: Mapping[str, Any]) -> str:
    return f"{sample['text']} -> {', '.join(sample['proposed'])} ({sample['answer']})"


def read_history(directory: str) -> list[dict[str, Any]]:
    """Returns the whole lines of the `history.jsonl` in a directory; none if there is no such file.

    Args:
        directory: Folder of the file.
    """
    return storage.read_json_lines(os.path.join(directory, HISTORY_FILE))


def _as_text(line: dict[str, Any]) -> str:
    return json.dumps(line) + "\n"


def _remove_events(directory: str) -> None:
    for name in storage.list_folder(directory):
        if name.startswith("events.out.tfevents."):
            storage.remove(os.path.join(directory, name))
