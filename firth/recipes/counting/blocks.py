"""Parameters of the parts that all transformers are made of."""

from firth.recipes.models.model import (
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)

AnyTransformer = MaskedTransformerConfig | CausalTransformerConfig | EncoderDecoderConfig


def dense(inputs: int, outputs: int, bias: bool = True) -> int:
    """Returns the parameters of a dense layer.

    Args:
        inputs: Width of the inputs.
        outputs: Width of the outputs.
        bias: True for a bias of each output.
    """
    return inputs * outputs + (outputs if bias else 0)


def norm(model: AnyTransformer, width: int) -> int:
    """Returns the parameters of one norm: scales, and offsets if it is a layer norm with biases.

    Args:
        model: Shape of the backbone.
        width: Width of the states.
    """
    has_offset = model.norm.kind == "layer_norm" and model.biases
    return (2 if has_offset else 1) * width


def attention(model: AnyTransformer | TwoStreamTransformerConfig, bias: bool) -> int:
    """Returns the parameters of one attention: queries, keys, values and output.

    Args:
        model: Shape of the backbone.
        bias: True for biases of the projections.
    """
    queries = model.attention.heads * model.head_width
    keys = model.key_value_heads * model.head_width
    return dense(model.width, queries + 2 * keys, bias) + dense(queries, model.width, bias)


def feed_forward(model: AnyTransformer | TwoStreamTransformerConfig, bias: bool) -> int:
    """Returns the parameters of one feed-forward layer, a gate included.

    Args:
        model: Shape of the backbone.
        bias: True for biases of the dense layers.
    """
    inner = (2 if model.feed_forward.gated else 1) * model.inner_width
    return dense(model.width, inner, bias) + dense(model.inner_width, model.width, bias)


def block(model: AnyTransformer) -> int:
    """Returns the parameters of one block without cross-attention.

    Args:
        model: Shape of the backbone.
    """
    own = attention(model, model.biases) + feed_forward(model, model.biases)
    return own + 2 * norm(model, model.width)


def cross_attention(model: AnyTransformer) -> int:
    """Returns the parameters that attention to an encoder adds to a block, its norm included.

    Args:
        model: Shape of the backbone.
    """
    return attention(model, model.biases) + norm(model, model.width)


def stack(model: AnyTransformer, layers: int) -> int:
    """Returns the parameters of a stack of blocks without cross-attention.

    They are those of the blocks (counted once if they are shared), of the norm after the last block of a
    pre-norm stack, and of what relative positions learn once for all layers.

    Args:
        model: Shape of the backbone.
        layers: Number of blocks that are applied.
    """
    blocks = block(model) * model.distinct_blocks(layers)
    final = norm(model, model.width) if model.norm.placement == "pre" else 0
    return blocks + final + relative_positions(model)


def relative_positions(model: AnyTransformer) -> int:
    """Returns the parameters of relative positions that the layers of a stack share.

    Args:
        model: Shape of the backbone.
    """
    return model.positions.parameters(model.width, model.attention.heads)


def added_to_tokens(model: AnyTransformer) -> int:
    """Returns the parameters between the token table and the first block.

    They are positions, segments, their norm, and the projection of a factorised table.

    Args:
        model: Shape of the backbone.
    """
    width = model.embedding_width
    rows = model.embeddings.segments + model.positions.rows
    normalised = norm(model, width) if model.embeddings.norm else 0
    return rows * width + normalised + projection(model, width, model.width)


def projection(model: AnyTransformer, inputs: int, outputs: int) -> int:
    """Returns the parameters of the projection after a factorised token table; 0 between equal widths.

    Args:
        model: Shape of the backbone.
        inputs: Width of the token table.
        outputs: Width of the hidden states.
    """
    return dense(inputs, outputs, model.biases) if inputs != outputs else 0
