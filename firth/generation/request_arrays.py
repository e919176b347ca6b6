"""Values of generation requests as arrays of a batch, without TensorFlow."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.recipes.base.errors import suggest
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import Sampling

# Values that change nothing, for samplers without such a value.
_NEUTRAL = Sampling(temperature=1.0)


def request_arrays(requests: Sequence[GenerationRequest], tokenizer: Any) -> dict[str, npt.NDArray[Any]]:
    """Returns the values of requests by the names and in the shapes of `Controls`, without its mask.

    Args:
        requests: Request of each row.
        tokenizer: Tokenizer, whose tokens have the biases; not read if there are none.

    Raises:
        ValueError: for a bias of a token that the vocabulary lacks, with the nearest one.

    Example:

    >>> request_arrays([GenerationRequest(seed=3), GenerationRequest()], None)["seeds"].tolist()
    [[3, 0], [0, 0]]
    """
    biases = [_biases_by_id(each.logit_bias, tokenizer) for each in requests]
    width = power_of_two(max(map(len, biases), default=0))
    ids, values = np.zeros((len(requests), width), np.int32), np.zeros((len(requests), width), np.float32)
    for row, own in enumerate(biases):
        ids[row, : len(own)], values[row, : len(own)] = list(own), list(own.values())

    def of_requests(name: str, dtype: type) -> npt.NDArray[Any]:
        return np.array([getattr(each, name) for each in requests], dtype)

    def of_samplers(name: str, dtype: type = np.float32) -> npt.NDArray[Any]:
        found = [getattr(each.sampler, name, getattr(_NEUTRAL, name)) for each in requests]
        return np.array([each or 0 for each in found], dtype)

    return {
        "most": of_requests("max_new_tokens", np.int32),
        "temperature": of_samplers("temperature"),
        "top_k": of_samplers("top_k", np.int32),
        "top_p": of_samplers("top_p"),
        "min_p": of_samplers("min_p"),
        "typical_p": of_samplers("typical_p"),
        "repetition_penalty": of_requests("repetition_penalty", np.float32),
        "presence_penalty": of_requests("presence_penalty", np.float32),
        "frequency_penalty": of_requests("frequency_penalty", np.float32),
        "no_repeat_ngram_size": of_requests("no_repeat_ngram_size", np.int32),
        "min_new_tokens": of_requests("min_new_tokens", np.int32),
        "bias_ids": ids,
        "biases": values,
        "seeds": of_requests("seed", np.int64).view(np.int32).reshape(-1, 2),
    }


def _biases_by_id(biases: Mapping[str, float], tokenizer: Any) -> dict[int, float]:
    if not biases:
        return {}
    ids = {piece: number for number, piece in enumerate(tokenizer.get_vocabulary())}
    for piece in biases:
        if piece not in ids:
            raise ValueError(f"logit_bias: the vocabulary has no token {piece!r}; {suggest(piece, ids)}")
    return {ids[piece]: value for piece, value in biases.items()}


def power_of_two(least: int) -> int:
    """Returns the least power of two that is not below a number; 0 for 0.

    Args:
        least: The number, 0 or more.

    Example:

    >>> power_of_two(5)
    8
    """
    return 1 << (least - 1).bit_length() if least else 0
