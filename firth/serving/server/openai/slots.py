"""Checks of models that write in slots."""

from collections.abc import Mapping
from typing import Any

from firth.serving.server.errors import RequestError
from firth.serving.server.slot_queue import SlotQueue
from firth.serving.server.versions import ModelVersion


def slots_of(version: ModelVersion) -> SlotQueue:
    """Returns the queue of a model's slots.

    Raises:
        RequestError: 404 with the model's signatures if it has no slots.
    """
    if version.slots is None:
        raise RequestError(
            f"{version.name} writes no texts here: it was exported without export.slots; it has "
            f"{signature_names(version)}",
            404,
            "model",
        )
    return version.slots


def signature_names(version: ModelVersion) -> str:
    """Returns the names of a model's signatures, as a sentence lists them."""
    return ", ".join(sorted(each for each in version.signature_defs if not each.startswith("__")))


def check_room(slots: SlotQueue, texts: int, parameter: str) -> None:
    """Passes if so many texts of one request may wait at a time.

    Args:
        slots: Queue of the model's slots.
        texts: Number of texts.
        parameter: Name of the parameter that asks for them.

    Raises:
        RequestError: 400, since a request that has no room in an empty queue has none later.
    """
    if texts > slots.max_queued:
        raise RequestError(
            f"{parameter}: {texts:,} texts; a request has at most {slots.max_queued:,}, of all its prompts",
            400,
            parameter,
        )


def check_top(described: Mapping[str, Any], wanted: int, parameter: str) -> None:
    """Passes if slots give so many likeliest tokens.

    Args:
        described: Description of the slots.
        wanted: Number of tokens at each place.
        parameter: Name of the parameter that asks for them.

    Raises:
        RequestError: naming the number that there is.
    """
    given = int(described.get("top_log_probabilities", 0))
    if wanted > given:
        raise RequestError(
            f"{parameter}: {wanted}; the model was exported with export.top_log_probabilities: {given}",
            400,
            parameter,
        )


def check_scores(described: Mapping[str, Any], parameter: str) -> None:
    """Passes if texts come with the log-probabilities of their tokens.

    Args:
        described: Description of the slots.
        parameter: Name of the parameter that needs them.

    Raises:
        RequestError: 400 if they do not.
    """
    if not described.get("log_probabilities", True):
        raise RequestError(
            f"{parameter}: the engine of this model gives no log-probabilities; an export with slots does",
            400,
            parameter,
        )


def reads_dialogues(described: Mapping[str, Any]) -> bool:
    """Returns whether prompts of slots are dialogues.

    Args:
        described: Description of the slots.
    """
    return bool(described.get("prompted_with", "text") != "text")
