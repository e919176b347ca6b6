"""Models of tasks: classes, numbers, choices, tags and spans of answers."""

import copy

import numpy as np
import torch
import transformers
from torch.nn.functional import cross_entropy

from transformers_families.decoders import GPT2, LLAMA
from transformers_families.encoder_decoders import BART
from transformers_families.encoders import DEBERTA_V3, DISTILBERT, ENCODER, ROBERTA
from transformers_families.family import (
    IGNORED,
    LENGTHS,
    VOCABULARY,
    Arrays,
    Family,
    Tensors,
    masked_inputs,
    one_text,
    pair_inputs,
)
from transformers_families.fine_tuning import descend, fine_tuned
from transformers_families.xlnet import XLNET


def labelled_inputs(generator: np.random.Generator, labels: np.ndarray) -> Arrays:
    """Returns pairs, with the label of each."""
    inputs = pair_inputs(generator, "unused")
    read = {name: inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
    return {**read, "labels": labels}


def one_text_labelled(generator: np.random.Generator) -> Arrays:
    """Returns texts with a class each, for a decoder that reads the last token that is not padding."""
    return {**one_text(generator, pad=0), "labels": np.array([2, 0, 1])}


def ended_inputs(generator: np.random.Generator, pad: int, end: int) -> Arrays:
    """Returns texts with a class each, of which each has its end token once."""
    inputs = one_text(generator, pad)
    ids, real = np.maximum(inputs["input_ids"], end + 1), inputs["attention_mask"] == 1
    ids = np.where(np.arange(max(LENGTHS)) == np.array(LENGTHS)[:, None] - 1, end, ids)
    return {**inputs, "input_ids": np.where(real, ids, pad), "labels": np.array([2, 0, 1])}


def summarised_inputs(generator: np.random.Generator) -> Arrays:
    """Returns pairs without padding, whose last token is a segment of its own, with a class each."""
    shape = (len(LENGTHS), max(LENGTHS))
    segments = (np.arange(shape[1]) >= np.array([[5], [3], [4]])).astype("int64")
    segments[:, -1] = 2
    return {
        "input_ids": generator.integers(2, VOCABULARY, shape),
        "attention_mask": np.ones(shape, "int64"),
        "token_type_ids": segments,
        "labels": np.array([2, 0, 1]),
    }


def choice_inputs(generator: np.random.Generator) -> Arrays:
    """Returns three choices of each of two questions, with the place of the right one."""
    kept = ("input_ids", "attention_mask", "token_type_ids")
    questions = [pair_inputs(generator, "unused") for _ in range(2)]
    return {
        **{name: np.stack([each[name] for each in questions]) for name in kept},
        "labels": np.array([2, 0]),
    }


def tagged_inputs(generator: np.random.Generator) -> Arrays:
    """Returns texts of which some tokens have one of three tags."""
    inputs = masked_inputs(generator)
    return {**inputs, "labels": np.where(inputs["labels"] == IGNORED, IGNORED, inputs["labels"] % 3)}


def span_inputs(generator: np.random.Generator) -> Arrays:
    """Returns questions on texts, with the places of answers; the last has none: its first token."""
    inputs = labelled_inputs(generator, np.zeros(3))
    del inputs["labels"]
    return {**inputs, "start_positions": np.array([6, 4, 0]), "end_positions": np.array([8, 4, 0])}


def run_spans(model, inputs: Tensors) -> Tensors:
    """The loss of each end; padding is no choice, as in our rows, while transformers lets it compete."""
    trained = copy.deepcopy(model)
    given = {name: inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")}

    def losses_of(asked) -> tuple[torch.Tensor, torch.Tensor, Tensors]:
        answers = asked(**given)
        logits = {"start": answers.start_logits, "end": answers.end_logits}
        hidden = inputs["attention_mask"] == 0
        losses = [
            cross_entropy(values.masked_fill(hidden, -1e9), inputs[f"{name}_positions"])
            for name, values in logits.items()
        ]
        return *losses, {f"logits/{name}": values for name, values in logits.items()}

    start, end, logits = losses_of(model)
    with torch.enable_grad():
        before = sum(losses_of(trained)[:2]) / 2
        before.backward()
    descend(trained)
    after = sum(losses_of(trained)[:2]) / 2
    # Without padding, it is the loss of transformers itself.
    alone = {name: value[:1] for name, value in inputs.items()}
    whole = {name: value[:, : LENGTHS[0]] if value.ndim == 2 else value for name, value in alone.items()}
    return {
        **logits,
        "loss/start": start,
        "loss/end": end,
        "loss/after": after,
        "loss/theirs": model(**whole).loss,
    }


FAMILIES = {
    "bert_tags": Family(
        transformers.BertForTokenClassification,
        transformers.BertConfig,
        {**ENCODER, "num_labels": 3},
        tagged_inputs,
        fine_tuned("tag"),
    ),
    "bert_spans": Family(
        transformers.BertForQuestionAnswering,
        transformers.BertConfig,
        ENCODER,
        span_inputs,
        run_spans,
    ),
    "bert_classes": Family(
        transformers.BertForSequenceClassification,
        transformers.BertConfig,
        {**ENCODER, "num_labels": 3, "problem_type": "single_label_classification"},
        lambda generator: labelled_inputs(generator, np.array([2, 0, 1])),
        fine_tuned("label"),
    ),
    "bert_numbers": Family(
        transformers.BertForSequenceClassification,
        transformers.BertConfig,
        {**ENCODER, "num_labels": 1, "problem_type": "regression"},
        lambda generator: labelled_inputs(generator, np.array([0.5, 4.0, 2.25], "float32")),
        fine_tuned("value"),
    ),
    "albert_classes": Family(
        transformers.AlbertForSequenceClassification,
        transformers.AlbertConfig,
        {**ENCODER, "embedding_size": 8, "inner_group_num": 2, "num_labels": 3},
        lambda generator: labelled_inputs(generator, np.array([2, 0, 1])),
        fine_tuned("label"),
    ),
    "distilbert_tags": Family(
        transformers.DistilBertForTokenClassification,
        transformers.DistilBertConfig,
        {**DISTILBERT, "num_labels": 3},
        tagged_inputs,
        fine_tuned("tag"),
    ),
    "deberta_tags": Family(
        transformers.DebertaV2ForTokenClassification,
        transformers.DebertaV2Config,
        {**DEBERTA_V3, "num_labels": 3},
        tagged_inputs,
        fine_tuned("tag"),
    ),
    "electra_spans": Family(
        transformers.ElectraForQuestionAnswering,
        transformers.ElectraConfig,
        {**ENCODER, "embedding_size": 8},
        span_inputs,
        run_spans,
    ),
    "bert_choices": Family(
        transformers.BertForMultipleChoice,
        transformers.BertConfig,
        ENCODER,
        choice_inputs,
        fine_tuned("choice"),
    ),
    "gpt2_classes": Family(
        transformers.GPT2ForSequenceClassification,
        transformers.GPT2Config,
        {**GPT2, "num_labels": 3, "pad_token_id": 0},
        one_text_labelled,
        fine_tuned("label"),
    ),
    "llama_classes": Family(
        transformers.LlamaForSequenceClassification,
        transformers.LlamaConfig,
        {**LLAMA, "num_labels": 3},
        one_text_labelled,
        fine_tuned("label"),
    ),
    "roberta_classes": Family(
        transformers.RobertaForSequenceClassification,
        transformers.RobertaConfig,
        {**ROBERTA, "num_labels": 3, "problem_type": "single_label_classification"},
        lambda generator: {**one_text(generator, pad=1), "labels": np.array([2, 0, 1])},
        fine_tuned("label"),
    ),
    "xlnet_classes": Family(
        transformers.XLNetForSequenceClassification,
        transformers.XLNetConfig,
        {**XLNET, "num_labels": 3, "summary_last_dropout": 0.0},
        summarised_inputs,
        fine_tuned("label"),
    ),
    # Its decoder reads the text after the end token, and without the last one.
    "bart_classes": Family(
        transformers.BartForSequenceClassification,
        transformers.BartConfig,
        {**BART, "num_labels": 3, "problem_type": "single_label_classification"},
        lambda generator: ended_inputs(generator, pad=1, end=2),
        fine_tuned("label"),
    ),
}
