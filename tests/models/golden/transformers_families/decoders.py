"""Families that predict the next token: GPT, GPT-2, Llama and Qwen 3."""

import numpy as np
import transformers

from transformers_families.family import EPSILON, IGNORED, VOCABULARY, Arrays, Family, one_text, single

LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "intermediate_size": 24,
    "rms_norm_eps": EPSILON,
    "tie_word_embeddings": False,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100.0},
    "pad_token_id": 0,
}
# Wavelengths 6, 20, 63 and 199: one is left alone, two lie between and one is slowed down in full.
LLAMA_3_1 = {
    **LLAMA,
    "head_dim": 8,
    "tie_word_embeddings": True,
    "rope_parameters": {
        "rope_type": "llama3",
        "rope_theta": 100.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
}
QWEN_3 = {**LLAMA, "head_dim": 8, "tie_word_embeddings": True}
GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 4,
    "n_inner": 24,
    "n_positions": 14,
    "layer_norm_epsilon": EPSILON,
    "resid_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
}
GPT = {key: value for key, value in GPT2.items() if key != "n_inner"}


def causal_inputs(generator: np.random.Generator) -> Arrays:
    inputs = one_text(generator, pad=0)
    return {**inputs, "labels": np.where(inputs["attention_mask"] == 1, inputs["input_ids"], IGNORED)}


FAMILIES = {
    "gpt2": Family(transformers.GPT2LMHeadModel, transformers.GPT2Config, GPT2, causal_inputs, single("lm")),
    "gpt": Family(
        transformers.OpenAIGPTLMHeadModel, transformers.OpenAIGPTConfig, GPT, causal_inputs, single("lm")
    ),
    "llama": Family(
        transformers.LlamaForCausalLM, transformers.LlamaConfig, LLAMA, causal_inputs, single("lm")
    ),
    "qwen_3": Family(
        transformers.Qwen3ForCausalLM, transformers.Qwen3Config, QWEN_3, causal_inputs, single("lm")
    ),
    "llama_3_1": Family(
        transformers.LlamaForCausalLM, transformers.LlamaConfig, LLAMA_3_1, causal_inputs, single("lm")
    ),
}
