"""The curve of a run: one line a logged step, in JSON and in TensorBoard."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

# What a line says of how far the run has come, next to what is drawn over the steps.
_PROGRESS = ("step", "tokens", "seconds")
HISTORY_FILE = "history.jsonl"
SAMPLES = "samples"


class History:
    """Lines of a run's curve, each step once, however often the run was killed and started again.

    The lines are kept next to the checkpoints, and written again to each run directory, because a restarted
    pipeline gives the run a new one.

    Args:
        kept_directory: Folder of the run's checkpoints.
        run_directory: Folder for `history.jsonl` and TensorBoard's event files.
        step: Step of the restored checkpoint; lines after it are dropped, because these steps will be made
            again.
    """

    def __init__(self, kept_directory: str, run_directory: str, step: int) -> None:
        lines = [line for line in read_history(kept_directory) if line["step"] <= step]
        paths = [os.path.join(directory, HISTORY_FILE) for directory in (kept_directory, run_directory)]
        os.makedirs(run_directory, exist_ok=True)
        _remove_events(run_directory)
        for path in paths:
            _rewrite(path, lines)
        self._files = [open(path, "a", encoding="utf-8") for path in paths]  # noqa: SIM115
        self._writer = tf.summary.create_file_writer(run_directory)
        for line in lines:
            self._write_scalars(line)

    def append(self, line: dict[str, Any]) -> None:
        """Adds the line of one step; it has left this process on return.

        Args:
            line: Values of the step, fit for JSON.
        """
        for file in self._files:
            file.write(json.dumps(line) + "\n")
            file.flush()
        self._write_scalars(line)

    def close(self) -> None:
        """Closes all files."""
        for file in self._files:
            file.close()
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
    path = os.path.join(directory, HISTORY_FILE)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        # A kill may leave a last line without its end.
        return [json.loads(line) for line in file if line.endswith("\n")]


def _rewrite(path: str, lines: Iterable[dict[str, Any]]) -> None:
    with open(path + ".unfinished", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    os.replace(path + ".unfinished", path)


def _remove_events(directory: str) -> None:
    for name in os.listdir(directory):
        if name.startswith("events.out.tfevents."):
            os.remove(os.path.join(directory, name))
