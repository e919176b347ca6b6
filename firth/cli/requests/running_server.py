"""Requests of the command that a server on this machine answers, which has loaded the model already."""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from firth.cli.output import note
from firth.cli.runs_on_disk import run_named

if TYPE_CHECKING:
    from firth.recipes.generation.request import GenerationRequest

# As `firth.serving.server.command_requests` has them, which loads TensorFlow.
_PREDICT, _GENERATE = "/firth/predict", "/firth/generate"
AskServer = Annotated[
    bool,
    typer.Option(
        "--server/--no-server",
        help="Whether a server that firth serve started, and that has loaded this model, is asked instead of "
        "loading it here. The answer is the same.",
    ),
]


class ServedText(NamedTuple):
    """A text that a server has written, with the names of `firth.generation.Generated`."""

    text: str
    ended: str
    tokens: tuple[str, ...] = ()
    log_probabilities: tuple[float, ...] | None = None
    prompt_tokens: tuple[str, ...] = ()
    prompt_log_probabilities: tuple[float | None, ...] | None = None
    score: float | None = None
    others: "tuple[ServedText, ...]" = ()
    complete: bool | None = None


def served_answers(
    directory: pathlib.Path, signature: str, texts: Sequence[Any], others: Mapping[str, Any]
) -> list[dict[str, Any]] | None:
    """Returns the outputs of a signature as the client has them; None if no server gives them.

    Args:
        directory: Serving directory, or the folder of a SavedModel.
        signature: Name of the signature.
        texts: The texts.
        others: Texts of every other input by its name, and `parameters`.
    """
    from firth.serving.exported_model import NoModelError, newest_model

    try:
        path = newest_model(os.fspath(directory))
    except NoModelError:
        return None
    given = {name: list(each) for name, each in others.items() if name != "parameters"}
    body = {
        "signature": signature,
        "texts": list(texts),
        "others": given,
        "parameters": others.get("parameters", {}),
    }
    return _asked(path, _PREDICT, body)


def served_texts(
    name: str,
    root: pathlib.Path,
    bundle: str,
    prompts: Sequence[str],
    requests: "Sequence[GenerationRequest]",
) -> list[ServedText] | None:
    """Returns the text after each prompt; None if no server writes the same as the bundle.

    Args:
        name: Name of a run.
        root: Folder of all runs.
        bundle: Folder of the bundle that the command would load.
        prompts: A prompt for each request.
        requests: The requests.
    """
    path = _exported(name, root, bundle)
    if path is None or len({each.stop for each in requests}) != 1:
        return None
    from firth.serving.exported_model import read_description

    try:
        description = read_description(path)
    except ValueError:
        return None
    values = [_parameters(each, description) for each in requests]
    if None in values:
        return None
    body = {"prompts": list(prompts), "parameters": values, "stop": requests[0].stop}
    found = _asked(path, _GENERATE, body)
    return None if found is None else [ServedText(**each) for each in found]


def _exported(name: str, root: pathlib.Path, bundle: str) -> str | None:
    """Returns the SavedModel that the last run has exported from its newest bundle; None without one."""
    run = run_named(root, name)
    summary = {} if run is None or not (run.is_finished or run.imported_from) else run.summary
    if any(path.startswith("heads/") for path in summary.get("fresh", ())):
        # The command warns of texts of heads that nobody has trained.
        return None
    made_of, pushed = summary.get("bundle"), summary.get("pushed")
    if not made_of or not pushed or os.path.realpath(made_of) != os.path.realpath(bundle):
        return None
    return str(pushed)


def _parameters(request: "GenerationRequest", description: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the values of a request as parameters of slots; None for one that slots do not honour alike."""
    slots, weights = description.get("slots"), description.get("weights", {})
    precision = description.get("recipe", {}).get("training", {}).get("precision")
    is_whole = weights.get("type") == "float32" == precision
    temperature = getattr(request.sampler, "temperature", None)
    if slots is None or not is_whole or temperature is None:
        return None
    found = {"temperature": temperature, **request.sampler.model_dump(exclude={"kind"}, exclude_none=True)}
    for key, field in type(request).model_fields.items():
        if key in slots["parameters"]:
            found[key] = getattr(request, key)
        elif key not in ("sampler", "stop") and getattr(request, key) != field.default:
            return None
    return found


def _asked(path: str, address: str, body: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    from firth.serving.server.announcements import server_of

    server = server_of(path)
    # What the server refuses is refused here, with the command's own sentence.
    found = None if server is None else server.ask(address, body)
    if server is None or not isinstance(found, dict):
        return None
    note(f"asked {server.address}, which serves version {server.model.version} (--no-server: load it here)")
    answers: list[dict[str, Any]] = found["answers"]
    return answers
