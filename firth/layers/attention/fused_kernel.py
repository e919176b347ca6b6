"""Attention by the fused kernel that Keras offers on a GPU, which never holds the scores."""

import keras
from keras import ops

from firth.layers.elements.types import Tensor

_DTYPES = ("bfloat16", "float16")
_GPUS = ("gpu", "cuda", "rocm")
_asked = False


def enable_flash_attention(enabled: bool = True) -> None:
    """Leaves attention to the fused kernel that Keras offers on a GPU, where it computes the same.

    That is on JAX, in 16-bit floats, where no probability is dropped and the bias is the same for all heads,
    and for rows so short that all scores can be held. It holds for functions that are traced from then on in
    this process. Keras's own switch, `keras.config.enable_flash_attention()`, is on from the start, and this
    one is not: no GPU has run it.

    Args:
        enabled: False for attention without the kernel, as before the first call.

    Example:

    >>> enable_flash_attention(False)
    """
    global _asked
    _asked = enabled


def offers_kernel() -> bool:
    """Returns true if Keras has a kernel for the device: on JAX, and on GPUs only.

    On a TPU Keras's kernel takes the mask of the first row for all rows (Keras 3.12 and 3.15), so that packed
    documents of the other rows would see each other.
    """
    if keras.backend.backend() != "jax":
        return False
    return all(device.startswith(_GPUS) for device in keras.distribution.list_devices())


def suits_kernel(query: Tensor, bias: Tensor | None, dropped: bool) -> bool:
    """Returns true if attention is left to the kernel; see `enable_flash_attention`.

    It knows no dropout of single examples. It rounds the bias to the dtype of the queries, which does no harm
    to a mask, but to the scores of distances, which differ by head.

    Args:
        query: Float tensor [group, batch, heads, length, head_width].
        bias: Float32 tensor [batch or 1, 1 or group * heads, length, keys], or None.
    """
    if not _asked or dropped:
        return False
    if bias is not None and bias.shape[1] != 1:
        return False
    return keras.backend.standardize_dtype(query.dtype) in _DTYPES and offers_kernel()


def read_by_kernel(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, scale: float = 1.0
) -> Tensor:
    """Returns the mean of values that each query sees (Dao et al. 2022, "FlashAttention", section 3).

    Where the kernel does not know a shape, as of heads whose width is not a multiple of eight, Keras computes
    the same without it.

    Args:
        query: Float tensor [group, batch, heads, length, head_width].
        key: Float tensor [batch, heads, keys, head_width].
        bias: Float tensor [batch or 1, 1, length, keys], or None.

    Example:

    >>> import numpy as np
    >>> ones, values = np.ones((1, 1, 1, 2, 1), "float32"), np.array([[[[1.0], [3.0]]]], "float32")
    >>> np.array(read_by_kernel(ones, ones[0], values, None)).tolist()
    [[[[2.0], [2.0]]]]
    """
    groups, batch, heads, length, width = ops.shape(query)
    # The kernel's query heads that share keys and values are neighbours.
    rows = ops.reshape(ops.transpose(query, (1, 3, 2, 0, 4)), (batch, length, heads * groups, width))
    read = ops.dot_product_attention(rows, _by_token(key), _by_token(value), bias=bias, scale=scale)
    apart = ops.transpose(ops.reshape(read, (batch, length, heads, groups, width)), (3, 0, 2, 1, 4))
    return ops.squeeze(apart, 0) if groups == 1 else apart


def _by_token(states: Tensor) -> Tensor:
    return ops.transpose(states, (0, 2, 1, 3))
