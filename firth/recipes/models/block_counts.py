"""Parameters, work and kept numbers of the parts that all transformers are made of."""

from typing import TYPE_CHECKING

from firth.recipes.models.counts import FLOAT32, Kept, Lengths, Work, dense

if TYPE_CHECKING:
    from firth.recipes.models.stack import BlocksConfig, StackConfig
    from firth.recipes.models.transformers import TransformerConfig


# Longest rows of which attention holds the scores of all queries at once; of longer ones it keeps none.
LONGEST_WHOLE = 1024
# Logits of a prediction of every token that are held at once: an eighth of a gigabyte in float32.
MAX_LOGITS = 2**25


def norm(model: "TransformerConfig", width: int) -> int:
    """Returns the parameters of one norm: scales, and offsets if it is a layer norm with biases."""
    has_offset = model.norm.kind == "layer_norm" and model.biases
    return (2 if has_offset else 1) * width


def attention(model: "BlocksConfig", bias: bool) -> int:
    """Returns the parameters of one attention: queries, keys, values, output, and norms of the first two."""
    queries = model.attention.heads * model.head_width
    keys = model.key_value_heads * model.head_width
    scales = 2 * model.head_width if model.attention.query_key_norm else 0
    return dense(model.width, queries + 2 * keys, bias) + dense(queries, model.width, bias) + scales


def feed_forward(model: "BlocksConfig", bias: bool) -> int:
    """Returns the parameters of one feed-forward layer, a gate included."""
    inner = (2 if model.feed_forward.gated else 1) * model.inner_width
    return dense(model.width, inner, bias) + dense(model.inner_width, model.width, bias)


def block(model: "TransformerConfig") -> int:
    """Returns the parameters of one block without cross-attention."""
    own = attention(model, model.biases) + feed_forward(model, model.biases)
    return own + 2 * norm(model, model.width)


def cross_attention(model: "TransformerConfig") -> int:
    """Returns the parameters that attention to an encoder adds to a block, its norm included."""
    return attention(model, model.biases) + norm(model, model.width)


def stack(model: "TransformerConfig", layers: int) -> int:
    """Returns the parameters of a stack of blocks without cross-attention.

    They are those of the blocks (counted once if they are shared), of the norm after the last block of a
    pre-norm stack, which has as many as one that the first block lacks, and of what relative positions learn
    once for all layers.
    """
    blocks = block(model) * model.distinct_blocks(layers)
    final = norm(model, model.width) if model.norm.placement == "pre" and model.norm.first else 0
    return blocks + final + model.positions.parameter_count(model.width, model.attention.heads)


def added_to_tokens(model: "TransformerConfig") -> int:
    """Returns the parameters between the token table and the first block.

    They are positions, segments, their norm, and the projection of a factorised table.
    """
    width = model.embedding_width
    rows = model.embeddings.segments + model.positions.rows
    normalised = norm(model, width) if model.embeddings.norm else 0
    projected = dense(width, model.width, model.biases) if model.projects_embeddings else 0
    return rows * width + normalised + projected


def projection(model: "TransformerConfig", inputs: int, outputs: int) -> int:
    """Returns the parameters of the projection after a factorised token table; 0 between equal widths."""
    return dense(inputs, outputs, model.biases) if inputs != outputs else 0


def factorised(model: "TransformerConfig") -> int:
    """Returns the multiply-adds of the projection after a factorised token table, for each token."""
    return model.embedding_width * model.width if model.projects_embeddings else 0


def block_work(model: "TransformerConfig", length: int) -> int:
    """Returns the multiply-adds of one block for each token, scores of masked pairs included."""
    queries, keys = head_widths(model)
    attention = 2 * model.width * queries + 2 * model.width * keys + 2 * queries * length
    dense = 3 if model.feed_forward.gated else 2
    relative = 2 * queries * model.positions.distances(length)
    return attention + dense * model.width * model.inner_width + relative


def further_blocks(model: "TransformerConfig", count: int, lengths: Lengths) -> Work:
    """Returns the work of some blocks over the whole row."""
    length = lengths.input
    # Keys and queries of all distances are made once for all rows.
    distances = model.positions.distances(length) * model.width * sum(head_widths(model))
    return Work(count * length * block_work(model, length), count * distances)


def head_widths(model: "BlocksConfig") -> tuple[int, int]:
    """Returns the widths of all queries, and of all keys."""
    return model.attention.heads * model.head_width, model.key_value_heads * model.head_width


def block_kept(model: "StackConfig", keys: int) -> Kept:
    """Returns the numbers that the forward pass of one block keeps for each token.

    They are those of attention, of two norms, of the feed-forward layer, and what dropout multiplies by.
    """
    own = attention_kept(model, keys, keys) + rotated_kept(model)
    return own + 2 * sublayer_kept(model) + model.inner_width * model.feed_forward.kept


def sublayer_kept(model: "BlocksConfig") -> Kept:
    """Returns the numbers that a norm and its dropout keep for each token."""
    return Kept((2 if model.dropout else 1) * model.width, model.width)


def attention_kept(model: "BlocksConfig", tokens: int, keys: int) -> Kept:
    """Returns what one attention keeps for each token that reads.

    They are queries, keys and values by head, the means of values twice, and the scores. Where heads share
    keys, the means are kept once.
    """
    queries, keys_width = head_widths(model)
    means = 1 if model.key_value_heads != model.attention.heads else 2
    return Kept((1 + means) * queries + 2 * keys_width) + scores_kept(model, tokens, keys)


def rotated_kept(model: "StackConfig") -> Kept:
    """Returns what is kept of queries and keys, for each token, where positions turn them."""
    return Kept(sum(head_widths(model))) if model.positions.turns else Kept()


def scores_kept(model: "BlocksConfig", tokens: int, keys: int) -> Kept:
    """Returns the numbers as large as the scores that attention keeps for each token that reads.

    They are the shares, and with dropout those that are left of them.
    """
    scores = model.attention.heads * keys if tokens * keys <= LONGEST_WHOLE**2 else 0
    return Kept(scores if model.attention.dropout else 0, scores)


def kept_around(model: "StackConfig", norms: int, keys: int) -> Kept:
    """Returns what is kept of each token before and after the blocks of a stack.

    They are what goes into the first block, what norms there and dropout keep, and the scores' bias that all
    layers share.
    """
    dropped = model.width if model.dropout else 0
    shared = model.attention.heads * keys if model.positions.biases_scores and keys <= LONGEST_WHOLE else 0
    return Kept((1 + norms) * model.width + dropped, norms * model.width + shared)


def block_working(model: "BlocksConfig", keys: int, scores: int) -> Kept:
    """Returns what the backward pass of a block holds at most next to what the block keeps, for each token.

    They are what the feed-forward layer computes with, or the gradients of scores, by when what the
    feed-forward layer keeps is gone.
    """
    inner = model.inner_width * model.feed_forward.working
    if keys > LONGEST_WHOLE:
        return inner + Kept(2 * model.width)
    gone = model.inner_width * model.feed_forward.kept
    of_scores = Kept(model.attention.heads * scores - gone.computed, -gone.float32)
    return max(inner, of_scores, key=lambda each: each.bytes(FLOAT32)) + Kept(2 * model.width)


def mask_kept(keys: int) -> Kept:
    """Returns the numbers for each token of the masks of blocks that are computed again."""
    return Kept(float32=keys if keys <= LONGEST_WHOLE else 0)
