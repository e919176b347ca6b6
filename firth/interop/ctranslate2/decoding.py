"""What a request asks for, in the words of CTranslate2's decoding."""

from collections.abc import Callable, Mapping
from typing import Any

from firth.recipes.base.errors import suggest
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import BeamSearch, Sampling

_REFUSAL = "the engine ctranslate2 has no such value; leave it out or take keras"
# Values that the runtime has nothing for.
_LACKING = ("presence_penalty", "no_repeat_ngram_size", "min_new_tokens", "logit_bias")


def _greedy(sampler: Any) -> dict[str, Any]:
    return {"beam_size": 1, "sampling_topk": 1}


def _sample(sampler: Sampling) -> dict[str, Any]:
    _refuse(sampler, ("min_p", "typical_p"))
    if sampler.temperature == 0.0:
        return _greedy(sampler)
    return {
        "beam_size": 1,
        # All of the vocabulary.
        "sampling_topk": sampler.top_k or 0,
        "sampling_topp": sampler.top_p,
        "sampling_temperature": sampler.temperature,
    }


def _beam(sampler: BeamSearch) -> dict[str, Any]:
    _refuse(sampler, ("n_best",))
    if sampler.early_stopping is not True:
        raise ValueError(
            "early_stopping: the engine ctranslate2 ends a search when as many texts have ended as there are "
            "beams; give true, or take keras"
        )
    return {"beam_size": sampler.beams, "length_penalty": sampler.length_penalty, "sampling_topk": 1}


# By the kind of a sampler, from it to arguments of the runtime.
ARGUMENTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "greedy": _greedy,
    "sample": _sample,
    "beam": _beam,
}


def arguments_of(request: GenerationRequest) -> dict[str, Any]:
    """Returns the arguments of CTranslate2's decoding for a request.

    Example:

    >>> arguments_of(GenerationRequest())
    {'beam_size': 1, 'sampling_topk': 1, 'repetition_penalty': 1.0}
    >>> arguments_of(GenerationRequest(presence_penalty=0.5))
    Traceback (most recent call last):
        ...
    ValueError: presence_penalty: the engine ctranslate2 has no such value; leave it out or take keras
    """
    _refuse(request, _LACKING)
    if request.sampler.kind not in ARGUMENTS:
        raise ValueError(
            f"sampler: the engine ctranslate2 has no {request.sampler.kind}, as keras has; "
            f"{suggest(request.sampler.kind, ARGUMENTS)}"
        )
    return {
        **ARGUMENTS[request.sampler.kind](request.sampler),
        "repetition_penalty": request.repetition_penalty,
    }


def is_random(request: GenerationRequest) -> bool:
    """Returns whether something is drawn."""
    return request.sampler.is_random and arguments_of(request)["sampling_topk"] != 1


def _refuse(part: Any, names: tuple[str, ...]) -> None:
    usual: Mapping[str, Any] = {name: part.__class__.model_fields[name].default for name in names}
    for name in names:
        if getattr(part, name) != usual[name]:
            raise ValueError(f"{name}: {_REFUSAL}")
