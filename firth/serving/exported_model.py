"""An exported model on disk: its newest version, its description, and lines on it for people."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

from firth import storage

# Next to a SavedModel; TF Serving reads its own files there.
FOLDER = "assets.extra"
DESCRIPTION = "firth.json"
SAVED_MODEL = "saved_model.pb"
# Servers hold a version in 64 bits with a sign.
_HIGHEST = 2**63 - 1


class NoModelError(FileNotFoundError):
    """There is no exported model in a folder."""


def digest_of_files(path: str) -> str:
    """Returns a digest of the names, sizes and times of the files below a folder.

    Args:
        path: The folder.
    """
    found = [(each, *storage.stamp_of(os.path.join(path, each))) for each in storage.files_below(path)]
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def newest_model(directory: str) -> str:
    """Returns the path of the SavedModel at `directory`, or of the highest version below it."""
    if storage.exists(os.path.join(directory, SAVED_MODEL)):
        return directory
    if not storage.is_folder(directory):
        raise NoModelError(f"there is no folder {directory}: no model was pushed there")
    # Pusher copies saved_model.pb last, so a version without it is still on its way.
    version = newest_version(directory)
    if version is None:
        raise NoModelError(
            f"{directory} holds no version of a model: none was pushed, or it was not blessed "
            "(see the run's report)"
        )
    return os.path.join(directory, version)


def newest_version(directory: str) -> str | None:
    """Returns the name of the highest version with a model below a folder; None without any."""
    versions = filter(is_version, storage.list_folder(directory))
    whole = [name for name in versions if storage.exists(os.path.join(directory, name, SAVED_MODEL))]
    return max(whole, key=int, default=None)


def next_version(directory: str) -> str:
    """Returns the number after the highest version below a folder, whatever the clock; 1 for the first."""
    highest = max(map(int, filter(is_version, storage.list_folder(directory))), default=0)
    if highest >= _HIGHEST:
        raise ValueError(f"{directory}/{highest} is the highest version that a server can read; remove it")
    return str(highest + 1)


def is_version(name: str) -> bool:
    """Returns whether the name of a folder is a version that servers read.

    Example:

    >>> [is_version(name) for name in ("7", "1795000000", ".unfinished", "²", str(2**63))]
    [True, True, False, False, False]
    """
    return name.isascii() and name.isdecimal() and int(name) <= _HIGHEST


def read_description(directory: str) -> dict[str, Any]:
    """Returns the description next to a SavedModel, for which the model itself is not loaded.

    A model that another program exported has none, and no signature is described.

    Args:
        directory: Folder of the SavedModel.

    Returns:
        signatures: Of each signature on texts, by name, the default one first: `meaning`, `inputs` and
            `outputs` by name (`dtype`, `meaning` and `shape`, whose axes are numbers, or names where the size
            is not fixed), `invariant`, `parameters` (with their defaults and ranges), `example`, `choices`,
            `needs`, `answer` and `reads_heads`, as `firth.serving.signature.Signature` has them.
        other_signatures: Of each other signature its meaning, inputs and outputs.
        weights: Type, size and measured loss of the weights; see
            `firth.serving.stored_weights.weights.describe_weights`. Exports of several adapters have none.
        slots: What a model with slots says of them; see `firth.serving.slots.signatures.SlotSignatures`.
        tokenizer: Special pieces and chat template; see
            `firth.serving.slots.tokenizer_description.describe_tokenizer`.
        recipe, tokenizer_digest, row_length, evaluation_sums, versions: What the model was made of, the most
            tokens of a row, and the sums that its metrics are made of.

    Raises:
        ValueError: if an earlier version of firth exported the model, and says something else.
    """
    path = os.path.join(directory, FOLDER, DESCRIPTION)
    described: dict[str, Any] | None = storage.read_json(path)
    if described is None:
        return {"signatures": {}, "other_signatures": {}}
    if not {"evaluation_sums", "other_signatures"} <= described.keys():
        raise ValueError(f"{path} is of an earlier version of firth: export the model again")
    return described


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
