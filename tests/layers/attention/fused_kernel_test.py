"""Attention by Keras's kernel next to attention without it; on a CPU Keras computes what the kernel would."""

import keras
import numpy as np
import pytest
from keras import ops

from firth.layers import Attention, enable_flash_attention
from firth.layers.attention import fused_kernel, softmax_attention
from tests.backends.gradients import gradients

BACKEND = keras.backend.backend()
HIDDEN = np.random.default_rng(1).normal(size=(2, 8, 16)).astype("float32")
# Two documents, and padding after the second one of the first row.
DOCUMENTS = np.array([[1, 1, 1, 2, 2, 2, 2, 0], [1, 1, 1, 1, 1, 2, 2, 2]])
HIDES = np.where(DOCUMENTS[:, None, :, None] == DOCUMENTS[:, None, None, :], 0.0, -1e9).astype("float32")
CAUSAL = np.triu(np.full((8, 8), -1e9, "float32"), 1)[None, None]
CASES = {
    "documents": ({}, HIDES),
    "causal": ({}, HIDES + CAUSAL),
    "no bias": ({}, None),
    "shared keys": ({"key_value_heads": 2}, HIDES + CAUSAL),
    "one head of keys": ({"key_value_heads": 1}, CAUSAL),
    "unscaled": ({"scaled": False}, HIDES),
    "query and key norms": ({"query_key_epsilon": 1e-6}, HIDES),
}


@pytest.fixture
def kernel(monkeypatch):
    """Turns the switch on for a device that seems to have the kernel; yields the shapes of its queries."""
    seen = []

    def read(query, *args, **kwargs):
        seen.append(tuple(query.shape))
        return fused_kernel.read_by_kernel(query, *args, **kwargs)

    monkeypatch.setattr(fused_kernel, "offers_kernel", lambda: True)
    monkeypatch.setattr(softmax_attention, "read_by_kernel", read)
    enable_flash_attention()
    yield seen
    enable_flash_attention(False)


def layer(dtype, **config):
    made = Attention(width=16, heads=4, initializer_stddev=0.4, seed=3, dtype=dtype, **config)
    made.build(HIDDEN.shape)
    return made


@pytest.mark.parametrize("case", CASES)
def test_the_kernel_gives_what_attention_without_it_gives(case, kernel):
    config, bias = CASES[case]
    if BACKEND != "jax" and config.get("key_value_heads"):
        pytest.skip("Keras's attention on TensorFlow knows no shared keys; the kernel is used on JAX alone")
    attention = layer("mixed_bfloat16", **config)
    given = attention(HIDDEN, bias, causal=case == "causal")
    enable_flash_attention(False)
    expected = attention(HIDDEN, bias, causal=case == "causal")
    assert len(kernel) == 1
    seen = DOCUMENTS != 0
    given, expected = (np.array(ops.cast(each, "float32"))[seen] for each in (given, expected))
    np.testing.assert_allclose(given, expected, atol=0.02 * np.abs(expected).max())


@pytest.mark.parametrize("bias", [None, HIDES + CAUSAL])
def test_gradients_are_those_without_the_kernel(bias, kernel):
    attention, found = layer("mixed_bfloat16"), []
    weights = np.random.default_rng(2).normal(size=HIDDEN.shape).astype("float32")

    def loss():
        return ops.sum(ops.cast(attention(HIDDEN, bias), "float32") * weights * (DOCUMENTS != 0)[..., None])

    found.append(gradients(attention, loss))
    enable_flash_attention(False)
    found.append(gradients(attention, loss))
    assert len(kernel) >= 1
    given, expected = found
    assert set(given) == set(expected)
    for path, value in expected.items():
        value, own = np.array(value, "float32"), np.array(given[path], "float32")
        np.testing.assert_allclose(own, value, atol=0.02 * np.abs(value).max())


def test_it_is_left_to_the_kernel_only_where_the_kernel_computes_the_same(kernel, monkeypatch):
    dropping = layer("mixed_bfloat16", dropout=0.5)
    dropping(HIDDEN, HIDES, training=True)
    layer("mixed_bfloat16")(HIDDEN, np.repeat(HIDES, 4, axis=1))
    layer("float32")(HIDDEN, HIDES)
    monkeypatch.setattr(fused_kernel, "offers_kernel", lambda: False)
    layer("mixed_bfloat16")(HIDDEN, HIDES)
    assert not kernel
    monkeypatch.setattr(fused_kernel, "offers_kernel", lambda: True)
    dropping(HIDDEN, HIDES)
    assert kernel == [(1, 2, 4, 8, 4)]


def test_nothing_is_left_to_the_kernel_that_it_was_not_asked_for(kernel):
    enable_flash_attention(False)
    layer("mixed_bfloat16")(HIDDEN, HIDES)
    assert not kernel


@pytest.mark.parametrize(
    "devices, offered",
    [(["cpu:0"], False), (["gpu:0", "gpu:1"], True), (["cuda:0"], True), (["tpu:0"], False)],
)
def test_keras_offers_the_kernel_on_jax_with_gpus(devices, offered, monkeypatch):
    monkeypatch.setattr(keras.distribution, "list_devices", lambda: devices)
    assert fused_kernel.offers_kernel() is (offered and BACKEND == "jax")
