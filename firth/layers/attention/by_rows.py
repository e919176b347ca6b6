"""Attention that holds the scores of some queries at a time, for long rows."""

from collections.abc import Callable

from keras import ops

from firth.layers.attention.attended import attended
from firth.layers.attention.block_sparse import BLOCK, read_blocks, suits_blocks
from firth.layers.attention.read_heads import grouped, times
from firth.layers.attention.row_bias import AttentionMask, RowBias
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.row_blocks import in_row_blocks
from firth.layers.elements.row_dropout import RowDropout
from firth.layers.elements.types import Tensor
from firth.recipes.models.block_counts import LONGEST_WHOLE

# Queries whose scores are held at once, and the longest rows of which all are: in these, computing scores
# again for the gradient costs more than the memory is worth (`LONGEST_WHOLE`, which the counts of memory go
# by). See `benchmarks.attention_memory`.
ROWS = 512

# Further scores of some queries for some keys: a function of the queries [batch, heads, rows, head_width], of
# all keys, of the first query and the one after the last, of the keys likewise, and of tensors.
Terms = Callable[[Tensor, Tensor, tuple[int, int], tuple[int, int], tuple[Tensor, ...]], Tensor]


def suits_rows(mask: AttentionMask) -> bool:
    """Returns whether scores are too many to be held at once: more than those of the longest whole rows.

    Args:
        mask: Which keys the queries see. Where a graph's rows have no length yet, scores are made at once.
    """
    length, keys = mask.sizes
    return length is not None and keys is not None and length > ROWS and length * keys > LONGEST_WHOLE**2


def described(mask: AttentionMask) -> Tensor | RowBias:
    """Returns what hides keys from queries, written out only where the scores can be held at once.

    Args:
        mask: Which keys the queries see.
    """
    return RowBias(mask) if suits_rows(mask) else mask.whole()


def read_by_rows(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: RowBias,
    dropout: Dropout,
    training: bool | None = None,
    prefix_length: int = 0,
    terms: Terms | None = None,
    of_terms: tuple[Tensor, ...] = (),
) -> Tensor:
    """Returns the mean of values that each query sees, as `read_heads` does.

    Of what attention makes for each query and key nothing is kept: it is made for a block of queries at a
    time, and again in the backward pass (Rabe and Staats 2021, "Self-attention Does Not Need O(n^2) Memory",
    section 3; here all keys of a query together). Keys that causality or a window hides from a whole block of
    queries are not read.

    Args:
        query: Float tensor [group, batch, heads, length, head_width], scaled.
        key: Float tensor [batch, heads, prefix_length + keys, head_width].
        value: Float tensor of the shape of `key`.
        bias: What is added to the scores.
        dropout: Dropout of the probabilities.
        training: Whether dropout acts; for None it does not.
        prefix_length: Number of keys before those of the tokens.
        terms: Further scores, of a group of 1; None for none.
        of_terms: Float tensors that `terms` is given.

    Returns:
        A float tensor of the shape of `query`.
    """
    noise = RowDropout(dropout, ops.shape(key)[0], training)
    ends = (len(bias.tensors), len(bias.tensors) + len(noise.tensors))

    def read(begin: int, own: tuple[Tensor, ...], shared: tuple[Tensor, ...]) -> Tensor:
        key, value, *held = shared
        (block,) = own
        rows = (begin, begin + block.shape[-2])
        known = bias.with_tensors(tuple(held[: ends[0]]))
        keys = known.keys(rows)
        added = known.rows(rows, keys)
        if terms is not None:
            added = added + terms(block[0], key, rows, keys, tuple(held[ends[1] :]))
        drawn = _Drawn(noise, tuple(held[ends[0] : ends[1]]), bias.length, key.shape[-2], rows, keys)
        of_key, of_value = (_of_keys(each, prefix_length, keys) for each in (key, value))
        return _read(block, of_key, of_value, added, drawn, prefix_length, bias.hides)

    return in_row_blocks(read, (query,), (key, value, *bias.tensors, *noise.tensors, *of_terms), ROWS)


def _of_keys(states: Tensor, prefix_length: int, keys: tuple[int, int]) -> Tensor:
    """Returns the states of the prefix and of some keys."""
    first, last = (prefix_length + each for each in keys)
    if not prefix_length or not keys[0]:
        return states[:, :, 0 if prefix_length else first : last]
    return ops.concatenate([states[:, :, :prefix_length], states[:, :, first:last]], axis=2)


class _Drawn:
    """The dropout of the scores of some queries."""

    def __init__(
        self,
        noise: RowDropout,
        tensors: tuple[Tensor, ...],
        length: int,
        all_keys: int,
        rows: tuple[int, int],
        keys: tuple[int, int],
    ) -> None:
        self._noise, self._tensors, self._shape = noise, tensors, (length, all_keys)
        self.rows, self.keys = rows, keys

    def factors(self, scores: Tensor, prefix_length: int, dtype: str) -> Tensor | None:
        """Returns what probabilities [..., batch, heads, rows, keys] are multiplied by."""
        groups = scores.shape[0] if len(scores.shape) == 5 else 1
        heads = scores.shape[-3]
        shape = (groups * heads, *self._shape)
        columns = [(prefix_length + self.keys[0], prefix_length + self.keys[1])]
        if prefix_length:
            columns = [(0, columns[0][1])] if not self.keys[0] else [(0, prefix_length), *columns]
        parts = [self._noise.factors(self._tensors, shape, self.rows, each, dtype) for each in columns]
        if parts[0] is None:
            return None
        found = ops.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]
        if len(scores.shape) == 4:
            return found
        apart = ops.reshape(found, (-1, groups, heads, *ops.shape(found)[2:]))
        return ops.transpose(apart, (1, 0, 2, 3, 4))

    def blocks(self, shares: Tensor, parts: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Returns probabilities of blocks of queries and keys after dropout; see `read_blocks`."""
        examples, of_queries, of_keys = parts
        places = (of_queries + self.rows[0] // BLOCK) * (self._shape[1] // BLOCK)
        numbers = places + of_keys + self.keys[0] // BLOCK
        return self._noise.of_parts(self._tensors, shares, (examples, numbers))


def _read(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, drawn: _Drawn, prefix_length: int, hides: bool
) -> Tensor:
    if suits_blocks(query, key, bias, hides and not prefix_length):
        return read_blocks(query, key, value, bias, drawn.blocks, drawn.rows[0] - drawn.keys[0])
    # Without a group, four axes are faster than five.
    read = ops.squeeze(query, 0) if query.shape[0] == 1 else query
    scores = ops.add(ops.cast(times(read, key), "float32"), grouped(bias, read))
    found = attended(scores, value, drawn.factors(scores, prefix_length, value.dtype))
    return ops.reshape(found, (query.shape[0], *ops.shape(found)[-4:]))
