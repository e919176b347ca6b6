"""Decoders by the kind of a sampler."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.generation.beam_search import BeamSearcher
from firth.generation.contrastive_search import ContrastiveSearcher
from firth.generation.sampling import likeliest, sampled
from firth.generation.token_reader import TokenReader
from firth.generation.writer import Writer


def _greedy(reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], sampler: Any) -> Writer:
    return Writer(reader, end_id, may_write, likeliest)


def _sample(reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], sampler: Any) -> Writer:
    return Writer(reader, end_id, may_write, sampled)


SAMPLERS: dict[str, Callable[[TokenReader, int, npt.NDArray[np.bool_], Any], Any]] = {
    "greedy": _greedy,
    "sample": _sample,
    "beam": BeamSearcher,
    "contrastive": ContrastiveSearcher,
}
"""Functions that make a decoder, by the kind of a request's sampler.

Each gets a reader, the id that ends a text, the tokens that may be written, bool [vocabulary], and the
sampler. A decoder has `start`, `go_on`, `ended` and `texts`, as `Writer` has.
"""
