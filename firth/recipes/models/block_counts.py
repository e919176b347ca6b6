"""Parameters, work and activations of the parts that all transformers are made of."""

from typing import TYPE_CHECKING

from firth.recipes.models.facts import FLOAT32, Lengths, Work, dense

if TYPE_CHECKING:
    from firth.recipes.models.stack import BlocksConfig
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


def block_bytes(model: "BlocksConfig", tokens: int, number: int, keys: int | None = None) -> int:
    """Returns the bytes of a row's activations that one block keeps for its backward pass.

    The formula is that of Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer
    Models", section 4.1, with the tensors that Keras makes: attention, two norms, and for each number of the
    feed-forward layer the activation's input, in float32, and its output, with a gate the second projection
    and the product, and with dropout the mask and the rest. `number` is the bytes of a number that products
    are computed with; `keys` are the tokens that are attended to, where they are others.
    """
    products = 1 + 2 * model.feed_forward.gated + 2 * bool(model.feed_forward.dropout)
    feed_forward = tokens * model.inner_width * (FLOAT32 + number * products)
    attention = attention_bytes(model, tokens, tokens if keys is None else keys, number)
    return attention + feed_forward + norm_bytes(model, tokens, number)


def attention_bytes(model: "BlocksConfig", tokens: int, keys: int, number: int) -> int:
    """Returns the bytes that one attention and its norm keep of a row for the backward pass.

    They are queries, keys, values, and the means of values twice; and the scores' softmax in float32, with
    dropout once more. Scores of long rows are computed again (section 5 of the same paper).
    """
    queries, key_width = head_widths(model)
    projected = number * (3 * queries * tokens + 2 * key_width * keys)
    scores = FLOAT32 + number * bool(model.attention.dropout)
    return projected + scores * _scores(model, tokens, keys) + norm_bytes(model, tokens, number)


def gradient_bytes(model: "BlocksConfig", tokens: int, keys: int, distances: int, number: int) -> int:
    """Returns the bytes of the gradients that the backward pass of a block holds at once.

    They are those of the scores before and after the softmax, and of those of distances before and after they
    are shifted; or two float32 numbers for each of the feed-forward layer, where that is more.
    """
    of_scores = 2 * number * _scores(model, tokens, keys) * (keys + distances) // keys
    return max(of_scores, 2 * FLOAT32 * tokens * model.inner_width)


def mask_bytes(tokens: int, keys: int | None = None) -> int:
    """Returns the bytes of a row's float32 mask, which is kept for blocks that are computed again."""
    pairs = tokens * (tokens if keys is None else keys)
    return FLOAT32 * pairs if pairs <= LONGEST_WHOLE**2 else 0


def norm_bytes(model: "BlocksConfig", tokens: int, number: int) -> int:
    """Returns the bytes that a norm, in float32, and its sublayer's input and, with dropout, output keep."""
    return tokens * model.width * (FLOAT32 + number * (1 + bool(model.dropout)))


def _scores(model: "BlocksConfig", tokens: int, keys: int) -> int:
    return model.attention.heads * tokens * keys if tokens * keys <= LONGEST_WHOLE**2 else 0
