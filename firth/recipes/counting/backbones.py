"""Parameters of each family's backbone, by part."""

from firth.recipes.counting.blocks import (
    added_to_tokens,
    attention,
    cross_attention,
    dense,
    feed_forward,
    stack,
)
from firth.recipes.models.model import (
    BiLSTMConfig,
    CausalTransformerConfig,
    CharacterCNNConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)

# Bytes, marks of a word's and a sentence's begin and end, padding of a word and of a sequence.
CHARACTERS = 262


def masked_transformer(model: MaskedTransformerConfig, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of an encoder, by part.

    `embeddings` are tokens, segments, positions, their norm, and the projection of a factorised table;
    `encoder` are all blocks, with what they share.

    Args:
        model: Shape of the backbone.
        vocabulary: Number of rows of the token table.
    """
    tokens = vocabulary * model.embedding_width
    return {"embeddings": tokens + added_to_tokens(model), "encoder": stack(model, model.layers)}


def causal_transformer(model: CausalTransformerConfig, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of a decoder, by part.

    `embeddings` are as in a masked transformer; `decoder` are all blocks, with what they share.

    Args:
        model: Shape of the backbone.
        vocabulary: Number of rows of the token table.
    """
    tokens = vocabulary * model.embedding_width
    return {"embeddings": tokens + added_to_tokens(model), "decoder": stack(model, model.layers)}


def encoder_decoder(model: EncoderDecoderConfig, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of an encoder and a decoder, by part.

    `embeddings` are the token table that both stacks read; `encoder` and `decoder` are all blocks, and each
    stack's own positions and norm of the embeddings. If both stacks share their weights, the decoder's part
    is its attention to the encoder alone.

    Args:
        model: Shape of the backbone.
        vocabulary: Number of rows of the token table.
    """
    depth = model.blocks_of_decoder
    cross = cross_attention(model) * model.distinct_blocks(depth)
    own = 0 if model.share_encoder_decoder else added_to_tokens(model) + stack(model, depth)
    return {
        "embeddings": vocabulary * model.embedding_width,
        "encoder": added_to_tokens(model) + stack(model, model.layers),
        "decoder": own + cross,
    }


def two_stream_transformer(model: TwoStreamTransformerConfig, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of XLNet's encoder, by part.

    `embeddings` are tokens, and the vector that the query stream starts from; `encoder` are all blocks. A
    block's attention has no biases at its projections, one more projection for relative positions, two
    vectors for relative segments and three learned query biases (Yang et al. 2019, sections 2.4 and 2.5).

    Args:
        model: Shape of the backbone.
        vocabulary: Number of rows of the token table.
    """
    inner = model.attention.heads * model.head_width
    relative = dense(model.width, inner, bias=False) + 2 * inner + 3 * inner
    norms = 2 * 2 * model.width
    block = attention(model, bias=False) + relative + feed_forward(model, bias=True) + norms
    return {"embeddings": (vocabulary + 1) * model.width, "encoder": model.layers * block}


def bilstm(model: BiLSTMConfig, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of ELMo's model, by part.

    `characters` are the layers from characters to a word's vector; `lstm` are both directions.

    Args:
        model: Shape of the backbone.
        vocabulary: Number of words, which matters to the softmax alone.
    """
    del vocabulary
    projected = model.projection_width
    layer = dense(2 * projected, 4 * model.cells) + model.cells * projected
    return {
        "characters": _characters(model.characters, projected),
        "lstm": 2 * model.layers * layer,
    }


def _characters(model: CharacterCNNConfig, width: int) -> int:
    convolutions = sum(dense(span * model.width, count) for span, count in model.filters)
    filters = sum(count for _, count in model.filters)
    highways = model.highway_layers * dense(filters, 2 * filters)
    return CHARACTERS * model.width + convolutions + highways + dense(filters, width)
