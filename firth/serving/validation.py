"""Validation of an exported model in a fresh process, which loads it as TF Serving does."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from firth import storage
from firth.serving.cases import Case, cases
from firth.serving.description import read_description
from firth.serving.descriptions.checking import description_problems

SCRIPT = pathlib.Path(__file__).with_name("isolated_check.py")
LOG_BYTES = 2_000

# What the report tells of a signature's description.
_SAID = ("meaning", "inputs", "outputs", "parameters")
# How far a row's figures may be from the same row asked alone. Padding changes the order of sums, and
# bfloat16 keeps 8 bits of each.
TOLERANCES = {"float32": 1e-4, "mixed_bfloat16": 5e-2}


def validate_serving(
    directory: str, rows: Sequence[bytes] = (), timeout_seconds: float = 900.0
) -> dict[str, Any]:
    """Tries an exported model in a process that has only TensorFlow and tensorflow-text.

    The model is loaded through the V1 session loader, as TF Serving does. Each signature is asked with
    normal, empty, huge and undecodable input; answers must be finite, shaped by the batch, and the same for a
    row alone as in a batch. The warm-up requests are replayed. The signatures must be those that the model
    describes.

    Args:
        directory: Folder of a SavedModel that `export` wrote.
        rows: Serialized rows to try `evaluate` with; without any, those of the warm-up requests.
        timeout_seconds: Most seconds for everything together; a model that takes longer is not blessed.

    Returns:
        A dict fit for JSON: `blessed`; `reasons` why it is not; `signatures`, each with what the model
        describes of it (`meaning`, `inputs`, `outputs` and `parameters`) and `cases` (name, batch, ok,
        problem, seconds); `ops`, each with the library that has it; `size_bytes`; `weights`, as described;
        `load_seconds`; `tensorflow`, its version; `log`, the end of what the process printed.
    """
    tried = list(cases(directory, rows))
    # The process has no library for buckets.
    with storage.local_copy(directory) as model:
        about, results, failure, log = _run(model, tried, _tolerance(model), timeout_seconds)
    outcomes = [_outcome(case, result) for case, result in zip(tried, results)]
    description = read_description(directory)
    reasons = [*([failure] if failure else []), *_model_problems(about)]
    reasons += description_problems(description, about["signatures"]) if about else []
    reasons += _case_problems(tried, outcomes)
    if len(results) < len(tried) and about:
        case = tried[len(results)]
        reasons.append(f"{case.request.signature}, {case.name}: the process ended while it ran")
    return {
        "blessed": not reasons,
        "reasons": reasons,
        "signatures": _by_signature(about, description, tried, outcomes),
        "ops": [{"name": op, "library": library} for op, library in about.get("ops", {}).items()],
        "size_bytes": _size_bytes(directory),
        "weights": description.get("weights"),
        "load_seconds": about.get("load_seconds"),
        "tensorflow": about.get("tensorflow"),
        "log": log,
    }


def _tolerance(directory: str) -> float:
    return TOLERANCES[read_description(directory)["recipe"]["training"]["precision"]]


def _run(
    directory: str, tried: list[Case], tolerance: float, timeout_seconds: float
) -> tuple[dict[str, Any], list[dict[str, Any]], str | None, str]:
    """Returns what the process said of the model and of each case, why it failed, and the end of its log."""
    with tempfile.TemporaryDirectory() as folder:
        requests, results = (os.path.join(folder, name) for name in ("requests.jsonl", "results.jsonl"))
        storage.write_text(requests, "".join(_line(case, tolerance) for case in tried))
        command = [sys.executable, "-I", str(SCRIPT), directory, requests, results]
        failure, log = _call(command, timeout_seconds)
        lines = storage.read_text(results).splitlines() if storage.exists(results) else []
    objects = [json.loads(line) for line in lines]
    return (objects[0] if objects else {}), objects[1:], failure, log


def _call(command: list[str], timeout_seconds: float) -> tuple[str | None, str]:
    # In a folder of its own, so that nothing lies about to be imported.
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, timeout=timeout_seconds, check=False
            )
        except subprocess.TimeoutExpired as error:
            return f"the process took longer than {timeout_seconds:g} s", _tail(error.stderr)
    if done.returncode:
        ended = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
        log = _tail(done.stderr)
        last = "".join(log.strip().splitlines()[-1:])
        return f"the process that loaded the model ended with {ended}: {last}", log
    return None, _tail(done.stderr)


def _tail(output: bytes | None) -> str:
    return (output or b"")[-LOG_BYTES:].decode("utf-8", "replace")


def _line(case: Case, tolerance: float) -> str:
    request = {
        "signature": case.request.signature,
        "inputs": {name: [_plain(value) for value in values] for name, values in case.request.inputs.items()},
        "compare": case.compare,
        "tolerance": tolerance,
    }
    return json.dumps(request) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _outcome(case: Case, result: dict[str, Any]) -> dict[str, Any]:
    """Returns the report's entry of one case."""
    problem = result["problem"]
    if case.refused:
        problem = None if result["refused"] else "was answered, and should have been refused"
    batch = len(next(iter(case.request.inputs.values())))
    return {
        "name": case.name,
        "batch": batch,
        "ok": problem is None,
        "problem": problem,
        "seconds": result["seconds"],
    }


def _model_problems(about: dict[str, Any]) -> list[str]:
    unknown = [op for op, library in about.get("ops", {}).items() if library is None]
    foreign = about.get("foreign_modules", [])
    compiled = [op for op in about.get("ops", {}) if op.startswith("Xla")]
    return [
        *(f"op {op} is neither in TensorFlow nor in tensorflow-text" for op in unknown),
        *(f"op {op} is of XLA, which TF Serving does not link" for op in compiled),
        *(f"{name} was imported in the process that must not need it" for name in foreign),
    ]


def _case_problems(tried: list[Case], outcomes: list[dict[str, Any]]) -> list[str]:
    return [
        f"{case.request.signature}, {case.name}: {outcome['problem']}"
        for case, outcome in zip(tried, outcomes)
        if not outcome["ok"]
    ]


def _by_signature(
    about: dict[str, Any], description: dict[str, Any], tried: list[Case], outcomes: list[dict[str, Any]]
) -> dict[str, Any]:
    described = {**description["signatures"], **description["other_signatures"]}
    said = {name: {key: each[key] for key in _SAID if key in each} for name, each in described.items()}
    signatures = {
        name: {**entry, **said.get(name, {}), "cases": []}
        for name, entry in about.get("signatures", {}).items()
    }
    for case, outcome in zip(tried, outcomes):
        signatures.setdefault(case.request.signature, {"cases": []})["cases"].append(outcome)
    return signatures


def _size_bytes(directory: str) -> int:
    return sum(storage.size_of(os.path.join(directory, name)) for name in storage.files_below(directory))
