"""Names, dtypes and shapes of the tensors that data and models share.

This module defines two contracts. A *row* is a packed sequence of raw tokens, without special tokens, which
the corpus side writes once. *Features* are all tensors that a model reads; an objective makes them of a row
in each epoch.
"""

import dataclasses
from collections.abc import Mapping

# Bump when the row format changes, so that no run reads rows of another format.
ROW_FORMAT = 5

# Row fields on disk, in a tf.train.Example.
EXAMPLE_ID = "example_id"
SOURCE = "source"
RAW_TOKENS = "tokens"
WORD_STARTS = "word_starts"
SENTENCE_STARTS = "sentence_starts"
CHUNK_LENGTHS = "chunk_lengths"
DOCUMENT_KEYS = "document_keys"
NEGATIVE_PREFIX = "negative_"
CHARACTERS = "characters"
# The label of each record of a row; zero where there is no record.
RECORD_LABELS = "record_labels"
# The number of the task of each record, in the order of the recipe's tasks.
TASK_IDS = "task_ids"
# A hash of the tokens of each record, for tasks that distinguish texts.
TEXT_KEYS = "text_keys"
# The number of choices of a record, at the first of its documents, which are a choice each.
CHOICE_COUNTS = "choice_counts"
# Tags of the words of records.
TOKEN_LABELS = "token_labels"
WORD_LABELS = "word_labels"
RECORD_WORDS = "record_words"
# Answers in windows over texts.
SPAN_STARTS = "span_starts"
SPAN_ENDS = "span_ends"
# In a row of dialogues: 1 on each token that is learned, 0 on tokens that are given.
REPLY_TOKENS = "reply_tokens"
# On disk alone: JSON of each record with values that scores need, and with turns that replies are written to.
RECORD_DETAILS = "record_details"
# On disk alone: keys of the records that a corpus of the base was found to hold.
FOUND_KEYS = "found_keys"
# In training alone: the share of the run's steps that have been made when a row is read.
PROGRESS = "progress"
# Bytes of each word on disk; its characters are computed when rows are read.
WORDS = "words"

# Features.
TOKEN_IDS = "token_ids"
SEGMENT_IDS = "segment_ids"
POSITION_IDS = "position_ids"
DOCUMENT_IDS = "document_ids"
ATTENTION_ORDER = "attention_order"
MASKED_POSITIONS = "masked_positions"
MASKED_LABELS = "masked_labels"
MASKED_WEIGHTS = "masked_weights"
POOLED_POSITIONS = "pooled_positions"
NEXT_SENTENCE_LABELS = "next_sentence_labels"
NEXT_SENTENCE_WEIGHTS = "next_sentence_weights"
SENTENCE_ORDER_LABELS = "sentence_order_labels"
SENTENCE_ORDER_WEIGHTS = "sentence_order_weights"
BOUNDARY_LEFT = "boundary_left"
BOUNDARY_RIGHT = "boundary_right"
BOUNDARY_OFFSETS = "boundary_offsets"
LABEL_IDS = "label_ids"
LABEL_WEIGHTS = "label_weights"
BACKWARD_LABEL_IDS = "backward_label_ids"
BACKWARD_LABEL_WEIGHTS = "backward_label_weights"
START_LABELS = "start_labels"
END_LABELS = "end_labels"
# 1 on records and 0 after.
RECORD_WEIGHTS = "record_weights"
DECODER_TOKEN_IDS = "decoder_token_ids"
DECODER_POSITION_IDS = "decoder_position_ids"
DECODER_DOCUMENT_IDS = "decoder_document_ids"
# Optional, bool or int, false on padding: instead of document ids, where a row holds one document.
PADDING_MASK = "padding_mask"
DECODER_PADDING_MASK = "decoder_padding_mask"
# In training, from the input pipeline: the seed of an example's dropout, int32 [2],
# a hash of the recipe's seed, the epoch and the example's id.
NOISE_KEYS = "noise_keys"

# Outputs of the signature `evaluate` for each record of a task, from which scores are computed.
RECORD_KEYS = "record_keys"
RECORD_LENGTHS = "record_lengths"
RECORD_PREDICTIONS = "record_predictions"
WORD_PREDICTIONS = "word_predictions"
PREDICTED_STARTS = "predicted_starts"
PREDICTED_ENDS = "predicted_ends"
RECORD_TEXTS = "record_texts"
RECORD_COMPLETE_TEXTS = "record_complete_texts"
RECORD_CONSTRAINED_TEXTS = "record_constrained_texts"

# Sums of each loss of an objective for each example, float32 [batch]: nats, hits and weights.
PARTS_OF_LOSS = ("loss_sum", "correct_sum", "weight_sum")
# Sums of the main loss, of the unigram loss of the same tokens in the training split, and of their bytes.
TEXT_LOSS_SUM = "text_loss_sum"
TEXT_WEIGHT_SUM = "text_weight_sum"
UNIGRAM_LOSS_SUM = "unigram_loss_sum"
BYTES_SUM = "bytes_sum"
TEXT_SUMS = (TEXT_LOSS_SUM, TEXT_WEIGHT_SUM, UNIGRAM_LOSS_SUM, BYTES_SUM)


def evaluation_sums(losses: Mapping[str, int | None]) -> tuple[str, ...]:
    """Returns the names of the sums that a model outputs for each example, float32 [batch] each.

    Example:

    >>> evaluation_sums({"label": 2})
    ('label_loss_sum', 'label_correct_sum', 'label_weight_sum')
    >>> evaluation_sums({"lm": None})[3:]
    ('text_loss_sum', 'text_weight_sum', 'unigram_loss_sum', 'bytes_sum')
    """
    of_losses = (f"{loss}_{part}" for loss in losses for part in PARTS_OF_LOSS)
    return (*of_losses, *(TEXT_SUMS if is_over_vocabulary(losses) else ()))


def is_over_vocabulary(losses: Mapping[str, int | None]) -> bool:
    """Returns true if the main loss, which is the first one, runs over the vocabulary.

    Example:

    >>> is_over_vocabulary({"mlm": None, "nsp": 2}), is_over_vocabulary({"label": 2})
    (True, False)
    """
    return next(iter(losses.values()), 0) is None


@dataclasses.dataclass(frozen=True)
class Spec:
    """Dtype and per-example shape of one tensor.

    Attributes:
        dtype: Name of the dtype.
        shape: Sizes of one example's tensor.
    """

    dtype: str
    shape: tuple[int, ...]


def row_specs(raw_length: int, max_documents: int, max_characters: int = 0) -> dict[str, Spec]:
    """Returns the specs of one row, padded to fixed shapes.

    A row holds:
        example_id: int64 [], a hash of its content, unique in its split.
        tokens: int32 [raw_length], the chunks' tokens one after another, zeros after.
        word_starts: int32 [raw_length], 1 where a word begins.
        sentence_starts: int32 [raw_length], 1 where a sentence begins.
        chunk_lengths: int32 [max_documents], zeros after.
        document_keys: int64 [max_documents], a hash of each chunk's document id, zeros after.
        characters: int32 [raw_length, max_characters], with `max_characters` only: each word's characters as
            `WordTokenizer` gives them, zeros after.

    Example:

    >>> row_specs(125, 8)["tokens"]
    Spec(dtype='int32', shape=(125,))
    """
    characters = {CHARACTERS: Spec("int32", (raw_length, max_characters))} if max_characters else {}
    return {
        EXAMPLE_ID: Spec("int64", ()),
        **_ints(raw_length, RAW_TOKENS, WORD_STARTS, SENTENCE_STARTS),
        **_ints(max_documents, CHUNK_LENGTHS),
        DOCUMENT_KEYS: Spec("int64", (max_documents,)),
        **characters,
    }


def encoder_specs(length: int, segments: bool = True, order: bool = False) -> dict[str, Spec]:
    """Returns the specs of the features that one stack of blocks reads, for one example.

    token_ids, position_ids: int32 [length].
    segment_ids: int32 [length], with `segments` only.
    document_ids: int32 [length], 0 on padding and 1, 2, ... on the documents of a row. A token attends to
        the tokens of its own document only, and positions start again with each document.
    attention_order: int32 [length], with `order` only. A token attends to those tokens of its document whose
        order is not above its own: all zeros is bidirectional, ascending is causal, zeros on a prefix and
        ascending after it is a prefix LM, a random order is a permutation.
    """
    names = [TOKEN_IDS, POSITION_IDS, DOCUMENT_IDS]
    names += [SEGMENT_IDS] if segments else []
    names += [ATTENTION_ORDER] if order else []
    return _ints(length, *names)


def selection_specs(max_predictions: int) -> dict[str, Spec]:
    """Returns the specs of predictions at chosen positions, for one example.

    masked_positions, masked_labels: int32 [max_predictions], positions ascending, zeros after.
    masked_weights: float32 [max_predictions], 1 on real predictions and 0 after.
    """
    return _weighted(max_predictions, MASKED_WEIGHTS, MASKED_POSITIONS, MASKED_LABELS)


def label_specs(length: int) -> dict[str, Spec]:
    """Returns the specs of predictions at every position, for one example.

    label_ids: int32 [length], the token that each position predicts, 0 where none is.
    label_weights: float32 [length], 1 where a token is predicted.
    """
    return _weighted(length, LABEL_WEIGHTS, LABEL_IDS)


def pair_specs(max_documents: int, task: str) -> dict[str, Spec]:
    """Returns the specs of a task on the segment pairs of a row, for one example.

    pooled_positions: int32 [max_documents], the place of each document's [CLS], zeros after.
    <task>_labels: int32 [max_documents].
    <task>_weights: float32 [max_documents], 1 on real pairs and 0 after.
    """
    return _weighted(max_documents, f"{task}_weights", POOLED_POSITIONS, f"{task}_labels")


def record_specs(max_documents: int, max_records: int, labels: str) -> dict[str, Spec]:
    """Returns the specs of a task with one label for each record of a row, for one example.

    pooled_positions: int32 [max_documents], the token of each document that an answer is read at, zeros
        after.
    record_labels: int32 or float32 [max_records].
    record_weights: float32 [max_records], 1 on records and 0 after.
    """
    return {
        POOLED_POSITIONS: Spec("int32", (max_documents,)),
        RECORD_LABELS: Spec(labels, (max_records,)),
        RECORD_WEIGHTS: Spec("float32", (max_records,)),
    }


def span_specs(max_records: int) -> dict[str, Spec]:
    """Returns the specs of a task whose answers are spans of a record's tokens, for one example.

    pooled_positions: int32 [max_records], the place of each record that means no answer, zeros after.
    start_labels, end_labels: int32 [max_records], the places of the answer's first and last token in the row.
    record_weights: float32 [max_records], 1 on records and 0 after.
    """
    return _weighted(max_records, RECORD_WEIGHTS, POOLED_POSITIONS, START_LABELS, END_LABELS)


def decoder_specs(length: int) -> dict[str, Spec]:
    """Returns the specs of the inputs of a decoder with an encoder, for one example.

    decoder_token_ids, decoder_position_ids: int32 [length].
    decoder_document_ids: int32 [length], 0 on padding; a decoder's token attends to the tokens of its own
        document, those before it in the decoder and all of them in the encoder.
    """
    return _ints(length, DECODER_TOKEN_IDS, DECODER_POSITION_IDS, DECODER_DOCUMENT_IDS)


def _ints(size: int, *names: str) -> dict[str, Spec]:
    return {name: Spec("int32", (size,)) for name in names}


def _weighted(size: int, weights: str, *names: str) -> dict[str, Spec]:
    return {**_ints(size, *names), weights: Spec("float32", (size,))}
