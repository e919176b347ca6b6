"""Families that read masked tokens: BERT, RoBERTa, DistilBERT, ALBERT and DeBERTa."""

from collections.abc import Callable

import transformers
from torch.nn.functional import cross_entropy

from transformers_families.family import (
    EPSILON,
    IGNORED,
    VOCABULARY,
    Family,
    Tensors,
    last_states,
    masked_inputs,
    pair_inputs,
    single,
)

ENCODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 14,
    "type_vocab_size": 2,
    "layer_norm_eps": EPSILON,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
# Its norms have the epsilon 1e-12, and there are no segments.
DISTILBERT = {
    "vocab_size": VOCABULARY,
    "dim": 16,
    "n_layers": 2,
    "n_heads": 4,
    "hidden_dim": 24,
    "max_position_embeddings": 14,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
# Two distances have a bucket of their own, and 8 tokens apart share the last with all beyond.
DEBERTA_V3 = {
    **ENCODER,
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 4,
    "max_relative_positions": 9,
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
}


def masked_and(name: str) -> Callable:
    """Returns a function that runs a model with two losses: of masked tokens, and of a task on pairs."""

    def run(model, inputs: Tensors) -> Tensors:
        both = model(**inputs)
        logits = both.prediction_logits.flatten(0, 1)
        masked = cross_entropy(logits, inputs["labels"].flatten(), ignore_index=IGNORED)
        return {**last_states(model, inputs), "loss/mlm": masked, f"loss/{name}": both.loss - masked}

    return run


# Two layers of four see two tokens to either side.
MODERNBERT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "norm_eps": EPSILON,
    "local_attention": 4,
    "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 100.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10.0},
    },
    "pad_token_id": 0,
}
ROBERTA = {**ENCODER, "max_position_embeddings": 16, "type_vocab_size": 1, "pad_token_id": 1}

FAMILIES = {
    "bert": Family(
        transformers.BertForPreTraining,
        transformers.BertConfig,
        ENCODER,
        lambda generator: pair_inputs(generator, "next_sentence_label"),
        masked_and("nsp"),
    ),
    # Positions begin after the id of padding, 1, and there is a single segment.
    "roberta": Family(
        transformers.RobertaForMaskedLM,
        transformers.RobertaConfig,
        ROBERTA,
        lambda generator: masked_inputs(generator, pad=1),
        single("mlm"),
    ),
    "modernbert": Family(
        transformers.ModernBertForMaskedLM,
        transformers.ModernBertConfig,
        MODERNBERT,
        masked_inputs,
        single("mlm"),
    ),
    "distilbert": Family(
        transformers.DistilBertForMaskedLM,
        transformers.DistilBertConfig,
        DISTILBERT,
        masked_inputs,
        single("mlm"),
    ),
    "albert": Family(
        transformers.AlbertForPreTraining,
        transformers.AlbertConfig,
        {**ENCODER, "embedding_size": 8, "hidden_act": "gelu_new"},
        lambda generator: pair_inputs(generator, "sentence_order_label"),
        masked_and("sop"),
    ),
    "deberta": Family(
        transformers.DebertaV2ForMaskedLM,
        transformers.DebertaV2Config,
        DEBERTA_V3,
        masked_inputs,
        single("mlm"),
    ),
}
