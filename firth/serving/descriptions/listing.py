"""Lists the signatures of an exported model for people, from its description alone."""

from collections.abc import Iterator, Mapping
from typing import Any


def listing(description: Mapping[str, Any]) -> list[str]:
    r"""Returns lines about each signature of a model: what it reads, gives and takes.

    Example:

    >>> text = {"dtype": "string", "shape": ["batch"], "meaning": "text to score"}
    >>> total = {"dtype": "float32", "shape": ["batch"], "meaning": "sum"}
    >>> score = {"meaning": "Scores.", "inputs": {"text": text}, "outputs": {"log_probability": total}}
    >>> print("\n".join(listing({"signatures": {"score": score}, "other_signatures": {}})))
    score: Scores.
      reads text: string [batch]; text to score
      gives log_probability: float32 [batch]; sum
    """
    found = []
    for name, described in description["signatures"].items():
        found += [f"{name.replace('_', '-')}: {described['meaning']}", *_tensors(described)]
    for name, described in description["other_signatures"].items():
        found += [f"{name} (not asked by firth predict): {described['meaning']}", *_tensors(described)]
    return found


def weights_line(weights: Mapping[str, Any]) -> str:
    """Returns a line on the type of stored weights, their size and the loss by it.

    Example:

    >>> held_out = {"quantity": "bits_per_byte", "stored": 1.2345, "float32": 1.23, "rows": 64}
    >>> weights_line({"type": "int8", "bytes": 1e6, "float32_bytes": 4e6, "held_out": held_out})
    'int8, 1.0 MB instead of 4.0 MB; bits per byte 1.2345, and 1.2300 in float32, on 64 held-out rows'
    """
    size, whole = (f"{weights[name] / 1e6:,.1f} MB" for name in ("bytes", "float32_bytes"))
    if weights["bytes"] == weights["float32_bytes"]:
        return f"{weights['type']}, {size}"
    said = f"{weights['type']}, {size} instead of {whole}"
    if held_out := weights.get("held_out"):
        quantity, rows = held_out["quantity"].replace("_", " "), f"{held_out['rows']} held-out rows"
        found = f"{held_out['stored']:.4f}, and {held_out['float32']:.4f} in float32"
        return f"{said}; {quantity} {found}, on {rows}"
    return f"{said}; what the model loses by it was not measured"


def _tensors(described: Mapping[str, Any]) -> Iterator[str]:
    for name, each in described["inputs"].items():
        yield f"  reads {_tensor(name, each)}{_taken(name, described)}"
    for name, each in described.get("parameters", {}).items():
        default = f"default {each['default']:g}"
        yield f"  takes {name}: {each['dtype']}; {each['meaning']}; {valid(each)}; {default}"
    for name, each in described["outputs"].items():
        yield f"  gives {_tensor(name, each)}"


def _tensor(name: str, each: Mapping[str, Any]) -> str:
    meaning = f"; {each['meaning']}" if each["meaning"] else ""
    return f"{name}: {each['dtype']} {shape_in_words(each['shape'])}{meaning}"


def _taken(name: str, described: Mapping[str, Any]) -> str:
    """Returns the piece that a text must hold, or the names that an input takes."""
    known = described.get("choices", {}).get(name)
    if known:
        return f"; one of {', '.join(known)}"
    needs = described.get("needs") if name == "text" else ""
    return f"; it holds {needs}" if needs else ""


def shape_in_words(shape: Any) -> str:
    """Returns a shape of names and sizes as it is printed.

    Example:

    >>> shape_in_words(["batch", 5])
    '[batch, 5]'
    """
    return f"[{', '.join(map(str, shape))}]"


def valid(parameter: Mapping[str, Any]) -> str:
    """Returns which values of a parameter are valid, in words.

    Example:

    >>> valid({"least": 0.0, "most": 1.0, "is_above": True})
    'above 0 and at most 1'
    """
    least = f"{'above' if parameter['is_above'] else 'at least'} {_number(parameter['least'])}"
    return f"{least} and at most {_number(parameter['most'])}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"
