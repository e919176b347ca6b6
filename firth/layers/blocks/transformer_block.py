"""A transformer block: attention, attention to an encoder if asked, and feed-forward."""

import keras
from keras import ops

from firth.layers.attention.attention import Attention
from firth.layers.attention.relations import build_attention
from firth.layers.blocks.feed_forward import FeedForward
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.norms import build_norm
from firth.layers.elements.parts import check_block_parts
from firth.layers.elements.seeds import plain_seed, seed_generator


@keras.saving.register_keras_serializable(package="firth")
class TransformerBlock(keras.layers.Layer):
    """Attention, then feed-forward, each with dropout, a residual and a norm.

    Post-norm: `norm(x + dropout(sublayer(x)))`, the block of Vaswani et al. 2017, "Attention Is All You
    Need", sections 3.1 and 5.4, and of BERT. Pre-norm: `x + dropout(sublayer(norm(x)))`, as in GPT-2 and
    Llama.

    Args:
        width: Of the hidden states.
        attention: A dict of `Attention`'s arguments: `heads`, and if wanted `key_value_heads`, `head_width`,
            `scaled` and `dropout`.
        feed_forward: A dict: `width` of the inner layer, `activation`, `gated` and `dropout`; see
            `FeedForward`.
        norm: A dict: `kind` and `epsilon`, see `build_norm`, and `placement`, `post` or `pre`.
        positions: None or a dict, the recipe's `positions`; its `kind` decides the class of the attention.
        biases: Of all projections and layer norms.
        cross_attention: Whether the block can attend to an encoder's states.
        dropout: Share of each sublayer's output that is dropped in training.
        initializer_stddev: Of the truncated normal that the kernels start from.
        output_stddev: The same of the projections that end a sublayer; `initializer_stddev` where it is None.
        scaled_initializer: Start kernels by the number of their inputs instead, as in `Attention`.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.

    Call arguments:
        hidden: Float tensor [batch, length, width].
        bias: Float32 tensor [batch or 1, heads or 1, length, keys], added to the attention scores.
        context: An encoder's states, float tensor [batch, keys, width]; without them a block that could
            attend to an encoder does not.
        context_bias: As `bias`, for the attention to the encoder.
        positions: What the attention reads of positions; see `build_relation`.
        cache, index, causal: As in `Attention`.
        queries: Float tensor [batch, length, width] that the block renews, where it reads `hidden` but does
            not renew it; with disentangled positions only.
        training: Whether dropout acts.

    Returns:
        A float tensor [batch, length, width]; with `cache` a pair of it and the new cache.

    Raises:
        ValueError: as the parts do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> block = TransformerBlock(width=8, attention={"heads": 2})
    >>> tuple(block(np.ones((1, 3, 8)), np.zeros((1, 1, 3, 3))).shape)
    (1, 3, 8)
    """

    def __init__(
        self,
        width,
        attention,
        feed_forward=None,
        norm=None,
        positions=None,
        biases=True,
        cross_attention=False,
        dropout=0.0,
        initializer_stddev=0.02,
        output_stddev=None,
        scaled_initializer=False,
        seed=None,
        **kwargs,
    ):
        # Biases and angles stay float32 under mixed precision; hidden states are cast where they enter.
        super().__init__(autocast=False, **kwargs)
        check_block_parts(
            "TransformerBlock",
            attention=attention,
            feed_forward=feed_forward,
            norm=norm,
            positions=positions,
        )
        self._config = {
            "width": width,
            "attention": dict(attention),
            "feed_forward": dict(feed_forward or {}),
            "norm": dict(norm or {}),
            "positions": dict(positions) if positions else None,
            "biases": biases,
            "cross_attention": cross_attention,
            "dropout": dropout,
            "initializer_stddev": initializer_stddev,
            "output_stddev": output_stddev,
            "scaled_initializer": scaled_initializer,
            "seed": plain_seed(seed),
        }
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        start = {
            "biases": biases,
            "initializer_stddev": initializer_stddev,
            "output_stddev": output_stddev,
            "scaled_initializer": scaled_initializer,
            **common,
        }
        self._norm_config = dict(norm or {})
        self._is_pre_norm = _is_pre_norm(self._norm_config.pop("placement", "post"))
        self.attention = build_attention(width, positions, **attention, **start, name="attention")
        self.attention_norm = self._norm("attention_norm")
        self.cross_attention = self.cross_attention_norm = None
        if cross_attention:
            self.cross_attention = Attention(width, cross=True, **attention, **start, name="cross_attention")
            self.cross_attention_norm = self._norm("cross_attention_norm")
        inner = dict(feed_forward or {})
        self.feed_forward = FeedForward(
            width, inner.pop("width", None), **inner, **start, name="feed_forward"
        )
        self.feed_forward_norm = self._norm("feed_forward_norm")
        self.dropout = Dropout(dropout, name="dropout", **common)

    def _norm(self, name):
        biases = self._config["biases"]
        return build_norm(**self._norm_config, biases=biases, dtype=self.dtype_policy, name=name)

    def build(self, hidden_shape):
        """Creates the weights of `attention`, `cross_attention` and `feed_forward`, each with its `_norm`."""
        for name in ("attention", "cross_attention", "feed_forward"):
            sublayer = getattr(self, name)
            if sublayer is not None:
                sublayer.build(hidden_shape)
                getattr(self, f"{name}_norm").build(hidden_shape)
        self.dropout.build(hidden_shape)

    def call(
        self,
        hidden,
        bias=None,
        context=None,
        context_bias=None,
        positions=None,
        cache=None,
        index=None,
        causal=False,
        queries=None,
        training=None,
    ):
        """Returns a float tensor [batch, length, width]; with `cache` a pair of it and the new cache."""
        hidden = ops.cast(hidden, self.compute_dtype)
        reading = {"positions": positions, "training": training}
        if queries is not None:
            reading["content"] = self._before(hidden, self.attention_norm)
            hidden = ops.cast(queries, self.compute_dtype)
        states = self._before(hidden, self.attention_norm)
        if cache is None:
            attended = self.attention(states, bias, causal=causal, **reading)
        else:
            attended, cache = self.attention(states, bias, cache=cache, index=index, **reading)
        hidden = self._after(hidden, attended, self.attention_norm, training)
        if context is not None and self.cross_attention is not None:
            states = self._before(hidden, self.cross_attention_norm)
            attended = self.cross_attention(states, context_bias, context=context, training=training)
            hidden = self._after(hidden, attended, self.cross_attention_norm, training)
        states = self._before(hidden, self.feed_forward_norm)
        transformed = self.feed_forward(states, training=training)
        hidden = self._after(hidden, transformed, self.feed_forward_norm, training)
        return hidden if cache is None else (hidden, cache)

    def _before(self, hidden, norm):
        """Returns what a sublayer reads."""
        return norm(hidden) if self._is_pre_norm else hidden

    def _after(self, hidden, output, norm, training):
        """Adds what a sublayer made of the hidden states."""
        hidden = hidden + self.dropout(output, training=training)
        return hidden if self._is_pre_norm else norm(hidden)

    def compute_output_shape(self, hidden_shape):
        """The shape of `hidden`."""
        return tuple(hidden_shape)

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), **self._config}


def _is_pre_norm(placement: str) -> bool:
    if placement not in ("post", "pre"):
        raise ValueError(f"`placement` of a norm must be `post` or `pre`. Received: placement={placement!r}")
    return placement == "pre"
