"""ELECTRA: a generator and a discriminator."""

import numpy as np
import torch
import transformers

from transformers_families.encoders import ENCODER
from transformers_families.family import IGNORED, MASK, VOCABULARY, Arrays, Family, Tensors, pair_inputs

ELECTRA_SHRINKS = ("hidden_size", "intermediate_size", "num_attention_heads")


class Electra(torch.nn.Module):
    """A generator and a discriminator that share their embeddings, as the reference code trains them."""

    def __init__(self, config: transformers.ElectraConfig):
        super().__init__()
        self.discriminator = transformers.ElectraForPreTraining(config)
        quarter = {name: getattr(config, name) // 4 for name in ELECTRA_SHRINKS}
        smaller = transformers.ElectraConfig(**{**config.to_dict(), **quarter})
        self.generator = transformers.ElectraForMaskedLM(smaller)
        self.generator.electra.embeddings = self.discriminator.electra.embeddings
        self.generator.generator_lm_head.weight = self.discriminator.electra.embeddings.word_embeddings.weight


def electra_inputs(generator: np.random.Generator) -> Arrays:
    """Predicted tokens are hidden from the generator; some of those it proposes are the original ones."""
    inputs = pair_inputs(generator, "unused")
    original, predicted = inputs["input_ids"], inputs["labels"] != IGNORED
    proposed = predicted & (generator.random(original.shape) < 0.7)
    replaced = np.where(proposed, generator.integers(2, VOCABULARY, original.shape), original)
    return {
        "input_ids": np.where(predicted, MASK, original),
        "attention_mask": inputs["attention_mask"],
        "token_type_ids": inputs["token_type_ids"],
        "labels": np.where(predicted, original, IGNORED),
        "replaced_ids": replaced,
        "replaced_labels": (replaced != original).astype("int64"),
    }


def run_electra(model: Electra, inputs: Tensors) -> Tensors:
    replaced = {name: inputs[name] for name in ("attention_mask", "token_type_ids")}
    replaced["input_ids"] = inputs["replaced_ids"]
    masked = {**replaced, "input_ids": inputs["input_ids"]}
    return {
        "hidden/last": model.discriminator.electra(**replaced).last_hidden_state,
        "hidden/generator": model.generator.electra(**masked).last_hidden_state,
        "loss/rtd": model.discriminator(**replaced, labels=inputs["replaced_labels"]).loss,
        "loss/mlm": model.generator(**masked, labels=inputs["labels"]).loss,
    }


FAMILIES = {
    "electra": Family(
        Electra, transformers.ElectraConfig, {**ENCODER, "embedding_size": 8}, electra_inputs, run_electra
    ),
}
