"""Validation of an exported model in a fresh process, which loads it as TF Serving does."""

import base64
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firth import storage
from firth.serving import score_tokens
from firth.serving.exported_model import read_description
from firth.serving.parameter import WITH_PARAMETERS
from firth.serving.signature import inputs_with
from firth.serving.slots.requests import prompt_text, slot_requests
from firth.serving.warmup import TEXTS, Request, TrialRequest, read_warmup
from firth.tokenizers.graph.special_pieces import MASK

MEGABYTE = 2**20

TEXT_CASES: dict[str, list[bytes]] = {
    "one": [TEXTS[0].encode()],
    "many": [TEXTS[index % len(TEXTS)].encode() * (index % 4 + 1) for index in range(9)],
    "empty batch": [],
    "empty text": [b""],
    "only masks": [b"[MASK] " * 600],
    "huge text": [b"all the words in the world " * (3 * MEGABYTE // 27)],
    "huge word": [b"a" * MEGABYTE],
    "huge text of masks": [b"[MASK]" * (MEGABYTE // 6)],
    "invalid UTF-8": [b"\xff\xfe abc \xc3", b"\xed\xa0\x80", bytes(range(256))],
    "control characters": [b"a\x00b\x07\x1b[0m\r\n\t c", "\u200b\ufeff\u202e".encode()],
}
# Cases of texts that are masks, which ask a signature that fills no masks nothing that others do not.
OF_MASKS = ("only masks", "huge text of masks")


@dataclasses.dataclass(frozen=True)
class Case:
    """A request and the expected answer.

    Attributes:
        name: Name of the case.
        request: Call of a signature.
        refused: True if the model must refuse it, with an error of its own, instead of answering.
        compare: Outputs that must be the same for each row asked alone.
    """

    name: str
    request: Request
    refused: bool = False
    compare: tuple[str, ...] = ()


def cases(directory: str, rows: Sequence[bytes] = ()) -> Iterator[Case]:
    """Yields the cases of a SavedModel: each signature on good and bad input, then the warm-up requests."""
    warmup = list(read_warmup(directory))
    description = read_description(directory)
    signatures = description["signatures"]
    for signature, described in signatures.items():
        mask = (described.get("needs") or MASK).encode()
        for name, texts in _text_cases(described).items():
            texts = [text.replace(MASK.encode(), mask) for text in texts]
            compare = tuple(described["invariant"]) if len(texts) > 1 else ()
            yield Case(name, Request(signature, inputs_with(described, texts)), compare=compare)
        yield from _parameter_cases(signature, described)
    default = next(iter(signatures.values()))
    yield Case("one", Request("serving_default", inputs_with(default, TEXT_CASES["one"])))
    made_up = [row for request in warmup for row in request.inputs.get("examples", ())]
    if sums := description["evaluation_sums"]:
        yield from _row_cases(list(rows) or made_up, sums)
    if score_tokens.NAME in description["other_signatures"]:
        yield from _token_cases(description)
    if "slots" in description:
        yield from _slot_cases(description["slots"])
    for index, request in enumerate(warmup):
        yield Case(f"warm-up request {index}", request)


def _text_cases(described: Mapping[str, Any]) -> dict[str, list[bytes]]:
    """Returns the texts that a signature is asked about, without those of masks where it fills none."""
    return {
        name: texts for name, texts in TEXT_CASES.items() if described.get("needs") or name not in OF_MASKS
    }


def _parameter_cases(signature: str, described: Mapping[str, Any]) -> Iterator[Case]:
    """Yields the cases of a signature's parameters: valid values, and for each one that is not."""
    parameters = described.get("parameters", {})
    name, texts = f"{signature}{WITH_PARAMETERS}", [text.encode() for text in TEXTS]
    inputs: dict[str, list[Any]] = {**inputs_with(described, texts)}
    inputs |= {key: [each["example"]] * len(texts) for key, each in parameters.items()}
    if parameters:
        yield Case("parameters", Request(name, inputs), compare=tuple(described["invariant"]))
    for key, each in parameters.items():
        wrong = {**inputs, key: [*inputs[key][1:], each["least"] - 1]}
        yield Case(f"{key} out of range", Request(name, wrong), refused=True)


def _token_cases(description: Mapping[str, Any]) -> Iterator[Case]:
    compared = tuple(name for name, each in score_tokens.SIGNATURE.outputs.items() if each.is_invariant)
    for each in score_tokens.requests(description):
        compare = compared if len(each.request.inputs["length"]) > 1 else ()
        yield dataclasses.replace(_case_of(each), compare=compare)


def _case_of(tried: TrialRequest) -> Case:
    inputs = {name: values.tolist() for name, values in tried.request.inputs.items()}
    return Case(tried.name, Request(tried.request.signature, inputs), tried.refused)


def _slot_cases(described: Mapping[str, Any]) -> Iterator[Case]:
    reads_turns = described["prompted_with"] == "turns"
    for name, texts in TEXT_CASES.items():
        # No JSON holds what is not UTF-8.
        refused = reads_turns and not all(map(_is_utf8, texts))
        asked = texts if refused else [prompt_text(described, each) for each in texts]
        inputs = {"text": asked, "max_new_tokens": [16] * len(texts)}
        compare = ("length", "truncated") if len(texts) > 1 and not refused else ()
        yield Case(name, Request("tokenize", inputs), refused, compare)
    if reads_turns:
        for text in (b"Hello!", b"[]", prompt_text(described, b"Hello!").replace(b"user", b"assistant")):
            request = Request("tokenize", {"text": [text], "max_new_tokens": [16]})
            yield Case("no dialogue", request, refused=True)
    yield from map(_case_of, slot_requests(described))


def _is_utf8(text: bytes) -> bool:
    return text.decode("utf-8", "replace").encode() == text


def _row_cases(rows: list[bytes], sums: list[str]) -> Iterator[Case]:
    # Hits follow from an argmax.
    compare = tuple(name for name in sums if not name.endswith("correct_sum"))
    if rows:
        yield Case("one", Request("evaluate", {"examples": rows[:1]}))
        yield Case("many", Request("evaluate", {"examples": rows}), compare=compare)
    yield Case("empty batch", Request("evaluate", {"examples": []}))
    yield Case("no row", Request("evaluate", {"examples": [b"not an Example"]}), refused=True)


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

    The model is loaded through the V1 session loader, as TF Serving does. Each signature receives
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
    """Returns the process's lines on the model and on each case, its failure, and the end of its log."""
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


_DEFAULT = "serving_default"
Tensors = Mapping[str, Mapping[str, Any]]


def description_problems(description: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Yields how a model differs from its description, a sentence each.

    Example:

    >>> text = {"dtype": "string", "shape": ["batch"], "meaning": "text"}
    >>> said = {"signatures": {"embed": {"inputs": {"text": text}, "outputs": {}}}, "other_signatures": {}}
    >>> loaded = {"embed": {"inputs": {"texts": {"dtype": "string", "shape": [None]}}, "outputs": {}}}
    >>> list(description_problems(said, loaded))
    ['embed: the inputs are texts, and text in its description']
    """
    said = _signatures(description)
    for name in found.keys() - said.keys() - {_DEFAULT}:
        yield f"{name}: the description lacks this signature"
    for name, described in said.items():
        if name not in found:
            yield f"{name}: the description has it, and the model lacks this signature"
            continue
        for part in ("inputs", "outputs"):
            yield from _differences(name, part, described[part], found[name][part])


def _signatures(description: Mapping[str, Any]) -> dict[str, Mapping[str, Tensors]]:
    """Returns inputs and outputs of all signatures, those with parameters among them."""
    whole = {**description["signatures"], **description["other_signatures"]}
    for name, described in description["signatures"].items():
        if parameters := described.get("parameters"):
            numbers = {key: {"dtype": each["dtype"], "shape": ["batch"]} for key, each in parameters.items()}
            whole[f"{name}{WITH_PARAMETERS}"] = {
                "inputs": {**described["inputs"], **numbers},
                "outputs": described["outputs"],
            }
    return whole


def _differences(name: str, part: str, said: Tensors, found: Tensors) -> Iterator[str]:
    if said.keys() != found.keys():
        yield f"{name}: the {part} are {', '.join(sorted(found))}, and {', '.join(said)} in its description"
        return
    for key, each in said.items():
        sizes = [axis if isinstance(axis, int) else None for axis in each["shape"]]
        if (each["dtype"], sizes) != (found[key]["dtype"], found[key]["shape"]):
            yield (
                f"{name}: {key} is {found[key]['dtype']} {found[key]['shape']}, and {each['dtype']} {sizes} "
                "in its description"
            )
