"""Names, dtypes and shapes of the tensors that data and models share.

Two contracts stand here. A *row* is what the corpus side writes once: a packed sequence of raw tokens, no
special token among them. *Features* are what an objective makes of a row, anew each epoch, and all that a
model reads.
"""

import dataclasses

# Of a row, as tf.train.Example fields on disk.
EXAMPLE_ID = "example_id"
SOURCE = "source"
RAW_TOKENS = "tokens"
WORD_STARTS = "word_starts"
SENTENCE_STARTS = "sentence_starts"
CHUNK_LENGTHS = "chunk_lengths"
DOCUMENT_KEYS = "document_keys"
PARTNER_PREFIX = "partner_"

# Of Features.
TOKEN_IDS = "token_ids"
SEGMENT_IDS = "segment_ids"
POSITION_IDS = "position_ids"
DOCUMENT_IDS = "document_ids"
MASKED_POSITIONS = "masked_positions"
MASKED_LABELS = "masked_labels"
MASKED_WEIGHTS = "masked_weights"
POOLED_POSITIONS = "pooled_positions"
NEXT_SENTENCE_LABELS = "next_sentence_labels"
NEXT_SENTENCE_WEIGHTS = "next_sentence_weights"

# What a model adds to the metrics for each example, float32 [batch]: losses in nats, hits and weights. The
# unigram loss is that of the same masked tokens under the training split's unigram distribution.
EVALUATION_SUMS = (
    "mlm_loss_sum",
    "mlm_correct_sum",
    "mlm_weight_sum",
    "nsp_loss_sum",
    "nsp_correct_sum",
    "nsp_weight_sum",
    "unigram_loss_sum",
)


@dataclasses.dataclass(frozen=True)
class Spec:
    """Dtype and per-example shape of one tensor."""

    dtype: str
    shape: tuple[int, ...]


def row_specs(raw_length: int, max_documents: int) -> dict[str, Spec]:
    """Returns the specs of one row, padded to fixed shapes.

    Args:
        raw_length: Most raw tokens of a row, which is its length less the special tokens of one document.
        max_documents: Most chunks of a row. A chunk is a document or a part of one.

    A row holds:
        example_id: int64 [], a hash of its content, unique in its split.
        tokens: int32 [raw_length], the chunks' tokens one after another, zeros behind.
        word_starts: int32 [raw_length], 1 where a word begins.
        sentence_starts: int32 [raw_length], 1 where a sentence begins.
        chunk_lengths: int32 [max_documents], zeros behind.
        document_keys: int64 [max_documents], a hash of each chunk's document id, zeros behind.

    Example:

    >>> row_specs(125, 8)["tokens"]
    Spec(dtype='int32', shape=(125,))
    """
    return {
        EXAMPLE_ID: Spec("int64", ()),
        RAW_TOKENS: Spec("int32", (raw_length,)),
        WORD_STARTS: Spec("int32", (raw_length,)),
        SENTENCE_STARTS: Spec("int32", (raw_length,)),
        CHUNK_LENGTHS: Spec("int32", (max_documents,)),
        DOCUMENT_KEYS: Spec("int64", (max_documents,)),
    }


def encoder_specs(length: int) -> dict[str, Spec]:
    """Returns the specs of the features that an encoder reads, for one example.

    token_ids, segment_ids, position_ids: int32 [length].
    document_ids: int32 [length], 0 on padding and 1, 2, ... on the documents of a row. A token attends to
        the tokens of its own document only, and positions start again with each document.
    """
    names = (TOKEN_IDS, SEGMENT_IDS, POSITION_IDS, DOCUMENT_IDS)
    return {name: Spec("int32", (length,)) for name in names}


def masked_lm_specs(length: int, max_predictions: int, max_documents: int) -> dict[str, Spec]:
    """Returns the specs of the masked LM's features, for one example.

    On top of `encoder_specs`:
        masked_positions, masked_labels: int32 [max_predictions], zeros behind.
        masked_weights: float32 [max_predictions], 1 on real predictions and 0 behind.
        pooled_positions: int32 [max_documents], where each document's [CLS] stands, zeros behind.
        next_sentence_labels: int32 [max_documents], 1 where the second segment is a random one.
        next_sentence_weights: float32 [max_documents], 1 on real pairs and 0 behind.

    Example:

    >>> masked_lm_specs(128, 20, 8)["masked_weights"]
    Spec(dtype='float32', shape=(20,))
    """
    return {
        **encoder_specs(length),
        MASKED_POSITIONS: Spec("int32", (max_predictions,)),
        MASKED_LABELS: Spec("int32", (max_predictions,)),
        MASKED_WEIGHTS: Spec("float32", (max_predictions,)),
        POOLED_POSITIONS: Spec("int32", (max_documents,)),
        NEXT_SENTENCE_LABELS: Spec("int32", (max_documents,)),
        NEXT_SENTENCE_WEIGHTS: Spec("float32", (max_documents,)),
    }
