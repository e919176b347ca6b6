"""The requests that a model must answer before it is served."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firth.serving.description import read_description
from firth.serving.samples import TEXTS
from firth.serving.signature import inputs_with
from firth.serving.slots.requests import slot_requests
from firth.serving.warmup import Request, read_warmup
from firth.serving.writing.parameter import WITH_PARAMETERS
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


def _slot_cases(described: Mapping[str, Any]) -> Iterator[Case]:
    for name, texts in TEXT_CASES.items():
        inputs = {"text": texts, "max_new_tokens": [16] * len(texts)}
        compare = ("length", "truncated") if len(texts) > 1 else ()
        yield Case(name, Request("tokenize", inputs), compare=compare)
    for each in slot_requests(described):
        inputs = {name: values.tolist() for name, values in each.request.inputs.items()}
        yield Case(each.name, Request(each.request.signature, inputs), each.refused)


def _row_cases(rows: list[bytes], sums: list[str]) -> Iterator[Case]:
    # Hits follow from an argmax.
    compare = tuple(name for name in sums if not name.endswith("correct_sum"))
    if rows:
        yield Case("one", Request("evaluate", {"examples": rows[:1]}))
        yield Case("many", Request("evaluate", {"examples": rows}), compare=compare)
    yield Case("empty batch", Request("evaluate", {"examples": []}))
    yield Case("no row", Request("evaluate", {"examples": [b"not an Example"]}), refused=True)
