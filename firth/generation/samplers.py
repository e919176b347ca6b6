"""What decodes by each kind of sampler."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.generation.beams import BeamSearcher
from firth.generation.controls import Controls
from firth.generation.filters import drawn, filtered
from firth.generation.randomness import uniforms
from firth.generation.reading import TokenReader
from firth.generation.writing import Writer


def likeliest(logits: tf.Tensor, controls: Controls, step: tf.Tensor) -> tf.Tensor:
    """Returns the likeliest token of each row, int32 [batch]; of equal ones that with the smallest id.

    Args:
        logits: float32 [batch, vocabulary].
        controls: What each row asks for; not read.
        step: Number of each row's token, int32 [batch]; not read.
    """
    del controls, step
    return tf.argmax(logits, axis=1, output_type=tf.int32)


def sampled(logits: tf.Tensor, controls: Controls, step: tf.Tensor) -> tf.Tensor:
    """Returns a token drawn from each row's distribution, cut as it asks, int32 [batch].

    What is drawn follows from the row's seed and the number of its token, and so is the same whatever shares
    the batch. At temperature 0 it is the likeliest token, so that rows of both kinds may share a batch.

    Args:
        logits: float32 [batch, vocabulary].
        controls: What each row asks for.
        step: Number of each row's token, int32 [batch].
    """
    return drawn(filtered(logits, controls), uniforms(controls.seeds, step))


def _greedy(reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], sampler: Any) -> Writer:
    del sampler
    return Writer(reader, end_id, may_write, likeliest)


def _sample(reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], sampler: Any) -> Writer:
    del sampler
    return Writer(reader, end_id, may_write, sampled)


# By the kind of a request's sampler. What is made has `start`, `go_on`, `ended` and `texts`, as `Writer` has.
SAMPLERS: dict[str, Callable[[TokenReader, int, npt.NDArray[np.bool_], Any], Any]] = {
    "greedy": _greedy,
    "sample": _sample,
    "beam": BeamSearcher,
}
