"""Parameters, work and kept numbers of the parts that all transformers are made of."""

from typing import TYPE_CHECKING

from firth.recipes.models.counts import Lengths, Work, dense

if TYPE_CHECKING:
    from firth.recipes.models.stack import BlocksConfig
    from firth.recipes.models.transformers import TransformerConfig


# Longest rows of which attention holds the scores of all queries at once; of longer ones it keeps none.
LONGEST_WHOLE = 1024


def norm(model: "TransformerConfig", width: int) -> int:
    """Returns the parameters of one norm: scales, and offsets if it is a layer norm with biases.

    Args:
        model: Shape of the backbone.
        width: Width of the states.
    """
    has_offset = model.norm.kind == "layer_norm" and model.biases
    return (2 if has_offset else 1) * width


def attention(model: "BlocksConfig", bias: bool) -> int:
    """Returns the parameters of one attention: queries, keys, values, output, and norms of the first two.

    Args:
        model: Shape of the backbone.
        bias: True for biases of the projections.
    """
    queries = model.attention.heads * model.head_width
    keys = model.key_value_heads * model.head_width
    scales = 2 * model.head_width if model.attention.query_key_norm else 0
    return dense(model.width, queries + 2 * keys, bias) + dense(queries, model.width, bias) + scales


def feed_forward(model: "BlocksConfig", bias: bool) -> int:
    """Returns the parameters of one feed-forward layer, a gate included.

    Args:
        model: Shape of the backbone.
        bias: True for biases of the dense layers.
    """
    inner = (2 if model.feed_forward.gated else 1) * model.inner_width
    return dense(model.width, inner, bias) + dense(model.inner_width, model.width, bias)


def block(model: "TransformerConfig") -> int:
    """Returns the parameters of one block without cross-attention.

    Args:
        model: Shape of the backbone.
    """
    own = attention(model, model.biases) + feed_forward(model, model.biases)
    return own + 2 * norm(model, model.width)


def cross_attention(model: "TransformerConfig") -> int:
    """Returns the parameters that attention to an encoder adds to a block, its norm included.

    Args:
        model: Shape of the backbone.
    """
    return attention(model, model.biases) + norm(model, model.width)


def stack(model: "TransformerConfig", layers: int) -> int:
    """Returns the parameters of a stack of blocks without cross-attention.

    They are those of the blocks (counted once if they are shared), of the norm after the last block of a
    pre-norm stack, which has as many as one that the first block lacks, and of what relative positions learn
    once for all layers.

    Args:
        model: Shape of the backbone.
        layers: Number of blocks that are applied.
    """
    blocks = block(model) * model.distinct_blocks(layers)
    final = norm(model, model.width) if model.norm.placement == "pre" and model.norm.first else 0
    return blocks + final + model.positions.parameter_count(model.width, model.attention.heads)


def added_to_tokens(model: "TransformerConfig") -> int:
    """Returns the parameters between the token table and the first block.

    They are positions, segments, their norm, and the projection of a factorised table.

    Args:
        model: Shape of the backbone.
    """
    width = model.embedding_width
    rows = model.embeddings.segments + model.positions.rows
    normalised = norm(model, width) if model.embeddings.norm else 0
    return rows * width + normalised + projection(model, width, model.width)


def projection(model: "TransformerConfig", inputs: int, outputs: int) -> int:
    """Returns the parameters of the projection after a factorised token table; 0 between equal widths.

    Args:
        model: Shape of the backbone.
        inputs: Width of the token table.
        outputs: Width of the hidden states.
    """
    return dense(inputs, outputs, model.biases) if inputs != outputs else 0


def factorised(model: "TransformerConfig") -> int:
    """Returns the multiply-adds of the projection after a factorised token table, for each token.

    Args:
        model: Shape of the backbone.
    """
    return model.embedding_width * model.width if model.embedding_width != model.width else 0


def block_work(model: "TransformerConfig", length: int) -> int:
    """Returns the multiply-adds of one block for each token, scores of masked pairs included.

    Args:
        model: Shape of the backbone.
        length: Tokens of a row.
    """
    queries, keys = head_widths(model)
    attention = 2 * model.width * queries + 2 * model.width * keys + 2 * queries * length
    dense = 3 if model.feed_forward.gated else 2
    relative = 2 * queries * model.positions.distances(length)
    return attention + dense * model.width * model.inner_width + relative


def further_blocks(model: "TransformerConfig", count: int, lengths: Lengths) -> Work:
    """Returns the work of some blocks over the whole row.

    Args:
        model: Shape of the backbone.
        count: Number of blocks.
        lengths: Tokens of a row.
    """
    length = lengths.input
    # Keys and queries of all distances are made once for all rows.
    distances = model.positions.distances(length) * model.width * sum(head_widths(model))
    return Work(count * length * block_work(model, length), count * distances)


def head_widths(model: "BlocksConfig") -> tuple[int, int]:
    """Returns the widths of all queries, and of all keys.

    Args:
        model: Shape of the backbone.
    """
    return model.attention.heads * model.head_width, model.key_value_heads * model.head_width


def block_kept(model: "BlocksConfig", keys: int) -> int:
    """Returns the numbers that the forward pass of one block keeps for each token.

    Args:
        model: Shape of the backbone.
        keys: Tokens that each token attends to.
    """
    inner = (5 if model.feed_forward.gated else 3) * model.inner_width
    return 9 * model.width + inner + scores_kept(model, 3, keys, keys)


def scores_kept(model: "BlocksConfig", tensors: int, tokens: int, keys: int) -> int:
    """Returns the numbers that some tensors as large as the scores keep for each token.

    Args:
        model: Shape of the backbone.
        tensors: Number of tensors.
        tokens: Tokens that read.
        keys: Tokens that each token attends to.
    """
    return tensors * model.attention.heads * keys if tokens * keys <= LONGEST_WHOLE**2 else 0
