"""Families of an encoder and a decoder: T5 and BART."""

import numpy as np
import torch
import transformers

from transformers_families.family import (
    EPSILON,
    IGNORED,
    TARGET_LENGTHS,
    VOCABULARY,
    Arrays,
    Family,
    Tensors,
    one_text,
    padded,
)

T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "d_kv": 6,
    "d_ff": 24,
    "num_layers": 2,
    "num_heads": 4,
    "layer_norm_epsilon": EPSILON,
    "dropout_rate": 0.0,
    # Two distances have a bucket of their own; 10 tokens apart share the last with all beyond.
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 9,
    "feed_forward_proj": "relu",
    "tie_word_embeddings": True,
    "decoder_start_token_id": 0,
}
BART = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 14,
    "activation_function": "gelu",
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
}


def decoder_inputs(generator: np.random.Generator, pad: int) -> Arrays:
    ids, real = padded(generator, TARGET_LENGTHS, pad)
    labels = np.where(real, generator.integers(2, VOCABULARY, ids.shape), IGNORED)
    decoder = {"decoder_input_ids": ids, "decoder_attention_mask": real.astype("int64")}
    return {**one_text(generator, pad), **decoder, "labels": labels}


def encoder_and_decoder(model: transformers.PreTrainedModel, inputs: Tensors) -> Tensors:
    answers = model(**inputs)
    encoded = answers.encoder_last_hidden_state
    decoded = model.get_decoder()(
        input_ids=inputs["decoder_input_ids"],
        attention_mask=inputs["decoder_attention_mask"],
        encoder_hidden_states=encoded,
        encoder_attention_mask=inputs["attention_mask"],
    )
    return {"hidden/encoder": encoded, "hidden/last": decoded.last_hidden_state, "loss/lm": answers.loss}


def untied_t5(config: transformers.T5Config) -> transformers.T5ForConditionalGeneration:
    """T5 1.1 has an output table of its own; transformers 5 ties the two whatever the configuration says."""
    model = transformers.T5ForConditionalGeneration(config)
    model.lm_head = torch.nn.Linear(config.d_model, config.vocab_size, bias=False)
    return model


FAMILIES = {
    "t5": Family(
        transformers.T5ForConditionalGeneration,
        transformers.T5Config,
        T5,
        lambda generator: decoder_inputs(generator, pad=0),
        encoder_and_decoder,
    ),
    "t5_1_1": Family(
        untied_t5,
        transformers.T5Config,
        {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
        lambda generator: decoder_inputs(generator, pad=0),
        encoder_and_decoder,
    ),
    # Its `final_logits_bias` is a buffer of zeros that is never trained, and so no weight here.
    "bart": Family(
        transformers.BartForConditionalGeneration,
        transformers.BartConfig,
        BART,
        lambda generator: decoder_inputs(generator, pad=1),
        encoder_and_decoder,
    ),
}
