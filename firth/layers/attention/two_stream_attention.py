"""XLNet's attention: by content, by relative position and by relative segment."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from firth.layers.attention.attention import Attention
from firth.layers.attention.attention_bias import AttentionMask, Block, RowBias, states_from, tokens_from
from firth.layers.attention.row_chunked_attention import rows_at_once
from firth.layers.attention.softmax_attention import times, weigh_values
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.extensible_layer import Place
from firth.layers.elements.rematerialisation import TensorHolder
from firth.layers.elements.row_blocks import OfRows, RowDropout, in_row_blocks
from firth.layers.elements.seeds import normal
from firth.layers.elements.types import Seed, Shape, Tensor, check_own_keys
from firth.layers.positions.relative_shift import relative_shift, relative_shift_at

# Above the number that `attention_bias` adds for hidden keys, below any other bias.
_HIDDEN = -1e8


class Stream(TensorHolder):
    """Masks of a stream: the keys that its tokens see, those in other segments, and the tokens' places.

    Args:
        segments: Int tensor [batch, rows], segments of the tokens that read.
        of_keys: Int tensor [batch, length], segments of the keys.
        positions: Int tensor [batch, rows], places of the tokens in their rows; None where they are all
            tokens of the rows.
    """

    def __init__(
        self, mask: AttentionMask, segments: Tensor, of_keys: Tensor, positions: Tensor | None = None
    ) -> None:
        self.bias = RowBias(mask)
        self._written_out = mask, segments, of_keys
        more = [segments, of_keys] if positions is None else [segments, of_keys, positions]
        self.tensors = (*self.bias.tensors, *(ops.cast(each, "float32") for each in more))

    def whole(self) -> tuple[Tensor, Tensor]:
        """Returns for all tokens which keys are in other segments, and the bias, [batch, 1, rows, length]."""
        mask, segments, of_keys = self._written_out
        return differs(segments, of_keys), mask.whole()

    def rows(self, block: Block) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns the bias of some tokens, the keys in other segments, and the places of the tokens.

        Returns:
            float32 [batch, 1, rows, length]; float32 of the same shape, 1 for a key in another segment; and
            int32 [batch, rows] or None.
        """
        count = len(self.bias.tensors)
        segments, of_keys, *positions = self.tensors[count:]
        bias = self.bias.with_tensors(self.tensors[:count]).rows(block)
        (begin, _), (size, _) = block
        places = ops.cast(tokens_from(positions[0], begin, size), "int32") if positions else None
        return bias, differs(tokens_from(segments, begin, size), of_keys), places


class StreamRows(TensorHolder):
    """The masks of one stream, or of the content stream and the query stream after it."""

    def __init__(self, streams: tuple[Stream, ...]) -> None:
        self.streams = streams
        self.tensors = tuple(each for stream in streams for each in stream.tensors)

    def with_tensors(self, tensors: tuple[Tensor, ...]) -> "StreamRows":  # noqa: D102
        following = iter(tensors)
        return StreamRows(
            tuple(
                stream.with_tensors(tuple(next(following) for _ in stream.tensors)) for stream in self.streams
            )
        )


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamAttention(Attention):
    """Tokens of one stream or of both read the content stream.

    The score of a query for a key is, over the root of the head's width, the sum of three terms (Yang et al.
    2019, "XLNet", sections 2.3 to 2.5; Dai et al. 2019, "Transformer-XL", section 3.3):

    - `(q + u) k`, content;
    - `(q + v) R(i - j)`, with R a projection of a sinusoid of the distance;
    - `(q + w) s`, with s one of two vectors, for keys of the query's own segment and for others.

    Only the difference of the two vectors s matters, because a number that all keys share does not change a
    softmax. Both streams use the same weights; the content stream alone gives keys and values. A query that
    may see nothing reads zeros, so that it learns nothing from tokens that are hidden from it.

    Args:
        width: Width of the hidden states.
        heads: Attention heads; they divide the width where `head_width` is None.
        key_value_heads: None, or as many as `heads`: keys are not shared.
        head_width: Width of a head; width over heads where it is None.
        scaled: Whether scores are divided by the root of the head's width.
        dropout: Share of the attention probabilities that is dropped in training.
        initializer_stddev: Standard deviation of the truncated normal that all weights start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, if `heads` does not divide `width`, if keys are to be shared, or
            if the last axis of the input is not `width`.

    Example:

    >>> import numpy as np
    >>> layer, ones = TwoStreamAttention(width=8, heads=2), np.ones((1, 3, 8))
    >>> zeros = np.zeros((1, 1, 3, 3))
    >>> tuple(layer(ones, ones, np.ones((6, 8)), zeros, zeros).shape)
    (1, 3, 8)
    """

    divided_weights: ClassVar[Mapping[str, int]] = {
        **Attention.divided_weights,
        "relative_kernel": 1,
        "content_bias": 0,
        "position_bias": 0,
        "segment_bias": 0,
        "segments": 1,
    }

    def __init__(
        self,
        width: int,
        heads: int,
        key_value_heads: int | None = None,
        head_width: int | None = None,
        scaled: bool = True,
        dropout: float = 0.0,
        initializer_stddev: float = 0.02,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        check_own_keys("TwoStreamAttention", heads, key_value_heads)
        super().__init__(
            width,
            heads,
            None,
            head_width,
            scaled,
            dropout,
            biases=False,
            cross=True,
            initializer_stddev=initializer_stddev,
            seed=seed,
            **kwargs,
        )

    def build(self, hidden_shape: Shape) -> None:
        """Creates the weights, for H heads of width d.

        `query_kernel` [width, H d], `kernel` [width, 2 H d] of keys and values, `relative_kernel`
        [width, H d]; `content_bias`, `position_bias` and `segment_bias` [H, 1, d], which are u, v and w;
        `segments` [2, H, 1, d], the same segment's vector first; and `output/kernel` [H d, width].

        Args:
            hidden_shape: Shape of `hidden`, (batch, rows, width); None on an axis of unknown length.
        """
        super().build(hidden_shape)

    def _add_projections(self) -> None:
        super()._add_projections()
        self.relative_kernel = self._add("relative_kernel", self.width, self.heads * self.head_width)
        self.content_bias = self._add("content_bias", self.heads, 1, self.head_width)
        self.position_bias = self._add("position_bias", self.heads, 1, self.head_width)
        self.segment_bias = self._add("segment_bias", self.heads, 1, self.head_width)
        self.segments = self._add("segments", 2, self.heads, 1, self.head_width)

    def places(self) -> list[Place]:
        """Returns those of `Attention`, and the projection of distances, `relative`."""
        return [*super().places(), self._place("relative", self.relative_kernel, None, 0)]

    def _add(self, name: str, *shape: int) -> Tensor:
        start = normal(self.initializer_stddev, self.dropout.seed_generator)
        return self.add_weight(name=name, shape=shape, initializer=start)

    # The arguments are the states of both streams.
    def call(  # type: ignore[override]
        self,
        hidden: Tensor,
        content: Tensor,
        relative: Tensor,
        differs: Tensor | None,
        bias: Tensor | StreamRows,
        positions: Tensor | None = None,
        both: bool = False,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, rows, width].

        Args:
            hidden: Float tensor [batch, rows, width] of the tokens that read: the content stream, the query
                stream, or with `both` the first and after it the second.
            content: Float tensor [batch, length, width], the content stream.
            relative: Float tensor [2 length, width], sinusoids of the distances from `length` down; see
                `relative_sinusoids`.
            differs: Float tensor [batch, 1, rows, length], 1 where a key is in another segment, 0 elsewhere;
                None where `bias` holds it.
            bias: Float32 tensor [batch, 1, rows, length], added to the scores; see `attention_bias`. A
                `StreamRows` for rows so long that scores are held of some of them at a time.
            positions: int32 [batch, predictions], places of the query stream's tokens. None where there is
                the content stream alone.
            both: Whether `hidden` holds both streams.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        hidden = ops.cast(hidden, self.compute_dtype)
        query, key, value = self._project(hidden, content, None)
        queries = self._queries_of_terms(query[0])
        relative = ops.cast(ops.expand_dims(relative, 0), self.compute_dtype)
        distance = self._heads(relative, self.relative_kernel, None, "relative")[0]
        if isinstance(bias, StreamRows):
            read = read_stream_rows(queries, (key, value, distance), bias, self.dropout, training)
            return self._join_heads(read, hidden)
        by_content, by_distance, of_others = queries
        by_distance = _by_place(times(by_distance, distance), positions, both)
        terms = (times(by_content, key), by_distance, of_others * ops.cast(differs, self.compute_dtype))
        scores = sum(ops.cast(term, "float32") for term in terms) + ops.cast(bias, "float32")
        factors = self.dropout.factors(ops.shape(scores), training=training)
        return self._join_heads(read_seen(scores, bias, value, factors), hidden)

    def _queries_of_terms(self, query: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the queries of keys and of distances, and the scores of keys of other segments."""
        of_others = ops.cast(self.segments[1] - self.segments[0], self.compute_dtype)
        of_others = ops.sum(self._with(query, self.segment_bias) * of_others, axis=-1, keepdims=True)
        return self._with(query, self.content_bias), self._with(query, self.position_bias), of_others

    def _with(self, query: Tensor, bias: Tensor) -> Tensor:
        return query + ops.cast(bias * self._scale, self.compute_dtype)


def _by_place(scores: Tensor, positions: Tensor | None, both: bool) -> Tensor:
    """Turns scores of distances, [batch, heads, rows, 2 length], into scores of keys."""
    if positions is None:
        return relative_shift(scores)
    if not both:
        return relative_shift_at(scores, positions)
    length = ops.shape(scores)[3] // 2
    content = relative_shift(scores[:, :, :length])
    return ops.concatenate([content, relative_shift_at(scores[:, :, length:], positions)], axis=2)


def read_stream_rows(
    queries: tuple[Tensor, Tensor, Tensor],
    read: tuple[Tensor, Tensor, Tensor],
    rows: StreamRows,
    dropout: Dropout,
    training: bool | None,
) -> Tensor:
    """Returns the values that the tokens of the streams read, float [batch, heads, rows, head_width].

    Args:
        queries: Float tensors [batch, heads, rows, head_width] that meet keys and distances, and [batch,
            heads, rows, 1], what is added for keys of other segments.
        read: Keys and values, float tensors [batch, heads, length, head_width], and those of the distances,
            [heads or 1, heads, 2 length, head_width].
    """
    _, heads, all_rows, _ = queries[0].shape
    noise = RowDropout(dropout, ops.shape(queries[0])[0], training)
    made, start = [], 0
    for stream in rows.streams:
        own = tuple(each[:, :, start : start + stream.bias.length] for each in queries)
        function = _of_stream(stream, noise, (heads, all_rows), start)
        shared = (*read, *noise.tensors, *stream.tensors)
        made.append(in_row_blocks(function, own, shared, rows_at_once(read[0].shape[2])))
        start += stream.bias.length
    return made[0] if len(made) == 1 else ops.concatenate(made, axis=2)


def _of_stream(stream: Stream, noise: RowDropout, shape: tuple[int, int], first: int) -> OfRows:
    def read(begin: Tensor, end: int, own: tuple[Tensor, ...], shared: tuple[Tensor, ...]) -> Tensor:
        by_content, by_distance, of_others = own
        key, value, distance, *held = shared
        drawn, of_stream = tuple(held[: len(noise.tensors)]), tuple(held[len(noise.tensors) :])
        length, rows = key.shape[2], by_content.shape[2]
        block = stream.bias.block(begin, rows, end)
        bias, in_others, positions = stream.with_tensors(of_stream).rows(block)
        if positions is None:
            near = states_from(distance, length - rows - begin, rows + length)
            distances = relative_shift(times(by_distance, near))
        else:
            distances = relative_shift_at(times(by_distance, distance), positions)
        terms = (times(by_content, key), distances, of_others * ops.cast(in_others, of_others.dtype))
        scores = sum(ops.cast(term, "float32") for term in terms) + bias
        factors = noise.factors(drawn, (*shape, length), (first + begin, 0), (rows, length), value.dtype)
        return read_seen(scores, bias, value, factors)

    return read


def read_seen(scores: Tensor, bias: Tensor, value: Tensor, factors: Tensor | None) -> Tensor:
    """Returns the mean of the values that each query sees, and zeros for a query that sees none.

    Args:
        scores: float32 [batch, heads, rows, length], with the bias.
        bias: Float32 tensor [batch, 1, rows, length]; see `attention_bias`.
        value: Float tensor [batch, heads, length, head_width].

    Returns:
        A float tensor [batch, heads, rows, head_width].
    """
    sees_any = ops.max(bias, axis=-1, keepdims=True) > _HIDDEN
    return weigh_values(scores, value, factors) * ops.cast(sees_any, value.dtype)


def differs(segments: Tensor, of_keys: Tensor) -> Tensor:
    """Returns 1 where a key is in another segment, float32 [batch, 1, rows, length].

    Args:
        segments: Tensor [batch, rows], segments of the tokens that read.
        of_keys: Tensor [batch, length], segments of the keys.
    """
    apart = ops.not_equal(ops.expand_dims(segments, 2), ops.expand_dims(of_keys, 1))
    return ops.expand_dims(ops.cast(apart, "float32"), 1)
