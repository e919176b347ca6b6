"""Hugging Face transformers on torch: its own models with their own losses, padded batches, torch's AdamW."""

import platform

import numpy as np
import torch
import transformers

from benchmarks.workers import batches
from benchmarks.workers.families import EMBEDDING_WIDTH, TRANSFORMERS, Family, Size, llama_inner_width
from benchmarks.workers.torch_model import TorchModel

NAMES = {
    "token_ids": "input_ids",
    "token_ids_mask": "attention_mask",
    "decoder_token_ids": "decoder_input_ids",
    "decoder_token_ids_mask": "decoder_attention_mask",
    "labels": "labels",
}
OF_TRAINING = ("labels", "perm_mask", "target_mapping")


def encoder_config(family: Family, size: Size) -> dict:
    return {
        "vocab_size": family.vocabulary,
        "hidden_size": size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "intermediate_size": 4 * size.width,
        "max_position_embeddings": 514,
        "hidden_dropout_prob": family.dropout,
        "attention_probs_dropout_prob": family.dropout,
    }


def masked(model, config, **more):
    return lambda family, size: model(config(**encoder_config(family, size), **more))


def deberta(family: Family, size: Size):
    more = {
        "type_vocab_size": 0,
        "relative_attention": True,
        "position_buckets": 256,
        "max_relative_positions": -1,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": False,
    }
    return transformers.DebertaV2ForMaskedLM(
        transformers.DebertaV2Config(**encoder_config(family, size) | more)
    )


class Electra(torch.nn.Module):
    """Generator and discriminator trained together; the library has both, but no step that joins them."""

    def __init__(self, family: Family, size: Size):
        super().__init__()
        shape = {**encoder_config(family, size), "embedding_size": EMBEDDING_WIDTH}
        smaller = {"hidden_size": size.width // 4, "intermediate_size": size.width}
        smaller["num_attention_heads"] = max(size.heads // 4, 1)
        self.discriminator = transformers.ElectraForPreTraining(transformers.ElectraConfig(**shape))
        self.generator = transformers.ElectraForMaskedLM(transformers.ElectraConfig(**{**shape, **smaller}))
        self.generator.electra.embeddings = self.discriminator.electra.embeddings
        self.generator.generator_lm_head.weight = self.base_model.embeddings.word_embeddings.weight

    @property
    def base_model(self):
        """The part that is kept after pre-training."""
        return self.discriminator.electra

    def forward(self, input_ids, attention_mask, labels):
        """Returns the joint loss."""
        predicted = labels != batches.IGNORED
        hidden = self.generator.electra(input_ids, attention_mask).last_hidden_state[predicted]
        logits = self.generator.generator_lm_head(self.generator.generator_predictions(hidden))
        generator_loss = torch.nn.functional.cross_entropy(logits, labels[predicted])
        with torch.no_grad():
            sampled = torch.distributions.Categorical(logits=logits).sample()
        replaced_ids = input_ids.masked_scatter(predicted, sampled)
        replaced = torch.zeros_like(labels).masked_scatter(predicted, (sampled != labels[predicted]).long())
        loss = self.discriminator(replaced_ids, attention_mask, labels=replaced).loss
        return transformers.utils.ModelOutput(loss=generator_loss + 50.0 * loss)


def xlnet(family: Family, size: Size):
    config = transformers.XLNetConfig(
        vocab_size=family.vocabulary,
        d_model=size.width,
        n_layer=size.layers,
        n_head=size.heads,
        d_inner=4 * size.width,
        dropout=family.dropout,
    )
    return transformers.XLNetLMHeadModel(config)


def gpt2(family: Family, size: Size):
    dropout = {f"{part}_pdrop": family.dropout for part in ("resid", "embd", "attn")}
    shape = {"n_embd": size.width, "n_layer": size.layers, "n_head": size.heads}
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=family.vocabulary, use_cache=False, **shape, **dropout)
    )


def llama(family: Family, size: Size):
    config = transformers.LlamaConfig(
        vocab_size=family.vocabulary,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads // 2,
        intermediate_size=llama_inner_width(size),
        use_cache=False,
    )
    return transformers.LlamaForCausalLM(config)


def t5(inner_factor: int, **more):
    def make(family: Family, size: Size):
        config = transformers.T5Config(
            vocab_size=family.vocabulary,
            d_model=size.width,
            d_kv=size.width // size.heads,
            d_ff=inner_factor * size.width,
            num_layers=size.layers,
            num_heads=size.heads,
            dropout_rate=family.dropout,
            use_cache=False,
            **more,
        )
        model = transformers.T5ForConditionalGeneration(config)
        if not config.scale_decoder_outputs:
            # Published T5 1.1 does not tie them; transformers 5 does, whatever its configuration.
            model.lm_head = torch.nn.Linear(size.width, family.vocabulary, bias=False)
        return model

    return make


def bart(family: Family, size: Size):
    both = {}
    for part in ("encoder", "decoder"):
        both |= {f"{part}_layers": size.layers, f"{part}_attention_heads": size.heads}
        both[f"{part}_ffn_dim"] = 4 * size.width
    config = transformers.BartConfig(
        vocab_size=family.vocabulary,
        d_model=size.width,
        dropout=family.dropout,
        attention_dropout=family.dropout,
        use_cache=False,
        **both,
    )
    return transformers.BartForConditionalGeneration(config)


MAKERS = {
    "bert": masked(transformers.BertForMaskedLM, transformers.BertConfig),
    "roberta": masked(transformers.RobertaForMaskedLM, transformers.RobertaConfig),
    "albert": masked(
        transformers.AlbertForMaskedLM, transformers.AlbertConfig, embedding_size=EMBEDDING_WIDTH
    ),
    "electra": Electra,
    "deberta_v3": deberta,
    "xlnet": xlnet,
    "gpt2": gpt2,
    "llama": llama,
    "t5": t5(4, feed_forward_proj="relu"),
    "t5_1_1": t5(2, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "bart": bart,
}


def permutation_inputs(batch: batches.Features) -> batches.Features:
    """XLNet's own inputs: who must not see whom, and which positions are predicted."""
    order, real = batch["order"], batch["token_ids_mask"] == 1
    hidden = (order[:, None, :] > 0) & (order[:, None, :] >= order[:, :, None])
    picked = batches.gathered(batch["labels"])
    mapping = np.eye(order.shape[1], dtype="float32")[picked["positions"]] * picked["weights"][..., None]
    return {
        "input_ids": batch["token_ids"],
        "attention_mask": batch["token_ids_mask"],
        "perm_mask": (hidden | ~real[:, None, :]).astype("float32"),
        "target_mapping": mapping,
        "labels": np.where(picked["weights"] > 0, picked["ids"], batches.IGNORED),
    }


class Model(TorchModel):
    """One family; see `benchmarks.workers.work`."""

    def __init__(self, name: str, family: Family, size: Size):
        torch.manual_seed(0)
        self._family, self._size = family, size
        super().__init__(MAKERS[name](family, size), size.precision)
        self.versions = {
            "python": platform.python_version(),
            "torch": torch.__version__,
            TRANSFORMERS: transformers.__version__,
        }

    def prepare(self, features: batches.Features, given: str) -> list[dict[str, torch.Tensor]]:
        """Returns the lot's documents as peers read them."""
        given = batches.peer_batches(features, given, self._size)
        return [self._inputs(batch) for batch in given]

    def _inputs(self, batch):
        if self._family.task == "permutation":
            named = permutation_inputs(batch)
        else:
            named = {name: batch[key] for key, name in NAMES.items() if key in batch}
            if self._family.task == "causal":
                # These models shift on their own.
                named["labels"] = np.where(batch["token_ids_mask"] == 1, batch["token_ids"], batches.IGNORED)
        return {
            name: torch.tensor(value).long() if value.dtype == "int32" else torch.tensor(value)
            for name, value in named.items()
            # Without padding nobody gives a mask, and attention is faster.
            if not (name.endswith("attention_mask") and value.all())
        }

    def inference(self, batch) -> None:
        """Hidden states of all tokens."""
        self._model.eval()
        inputs = {name: value for name, value in batch.items() if name not in OF_TRAINING}
        with torch.inference_mode(), self.autocast():
            if not self._family.has_decoder_beside_encoder:
                self._model.base_model(**inputs)
                return
            encoded = self._model.get_encoder()(inputs["input_ids"], inputs.get("attention_mask"))
            self._model.get_decoder()(
                input_ids=inputs["decoder_input_ids"],
                attention_mask=inputs.get("decoder_attention_mask"),
                encoder_hidden_states=encoded.last_hidden_state,
                encoder_attention_mask=inputs.get("attention_mask"),
            )
