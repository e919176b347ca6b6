"""XLNet's attention for long rows, which holds the scores of some queries at a time."""

from keras import ops

from firth.layers.attention.read_heads import times
from firth.layers.attention.row_bias import AttentionMask, Block, RowBias, states_from, tokens_from
from firth.layers.attention.row_chunked_attention import rows_at_once
from firth.layers.attention.weighted_values import attended
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.row_blocks import OfRows, RowDropout, in_row_blocks
from firth.layers.elements.tensor_holder import TensorHolder
from firth.layers.elements.types import Tensor
from firth.layers.positions.relative_shift import relative_shift, relative_shift_at

# Above what `attention_bias` adds where nothing may be seen, below any other bias.
_HIDDEN = -1e8


class Stream(TensorHolder):
    """Which keys the tokens of a stream see, which are in other segments, and where the tokens stand.

    Args:
        segments: Int tensor [batch, rows], segments of the tokens that read.
        of_keys: Int tensor [batch, length], segments of the keys.
        positions: Int tensor [batch, rows], where the tokens stand in their rows; None where they are all
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
        """Returns of some tokens the bias, which keys are in other segments, and where they stand.

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
    """What `Stream` tells of one stream, or of the content stream and the query stream after it."""

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


def read_stream_rows(
    queries: tuple[Tensor, Tensor, Tensor],
    read: tuple[Tensor, Tensor, Tensor],
    rows: StreamRows,
    dropout: Dropout,
    training: bool | None,
) -> Tensor:
    """Returns what the tokens of the streams read, a float tensor [batch, heads, rows, head_width].

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
    return attended(scores, value, factors) * ops.cast(sees_any, value.dtype)


def differs(segments: Tensor, of_keys: Tensor) -> Tensor:
    """Returns 1 where a key is in another segment, float32 [batch, 1, rows, length].

    Args:
        segments: Tensor [batch, rows], segments of the tokens that read.
        of_keys: Tensor [batch, length], segments of the keys.
    """
    apart = ops.not_equal(ops.expand_dims(segments, 2), ops.expand_dims(of_keys, 1))
    return ops.expand_dims(ops.cast(apart, "float32"), 1)
