"""The weights of transformers' models, by the paths that ours have."""

from collections.abc import Callable

import numpy as np

from tests.models import weights
from tests.models.weights import Weights

LAYERS = 2


class State:
    """A state dict of torch's, some of it at a time."""

    def __init__(self, arrays: Weights):
        self._arrays = arrays

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def below(self, prefix: str) -> "State":
        kept = {name: value for name, value in self._arrays.items() if name.startswith(prefix)}
        return State({name.removeprefix(prefix): value for name, value in kept.items()})

    def linear(self, name: str) -> weights.Linear:
        return self[f"{name}.weight"].T, self._arrays.get(f"{name}.bias")

    def linears(self, *names: str) -> list[weights.Linear]:
        return [self.linear(name) for name in names]

    def norm(self, path: str, name: str) -> Weights:
        return weights.norm(path, self[f"{name}.weight"], self._arrays.get(f"{name}.bias"))


def embeddings(state: State, path: str) -> Weights:
    """The embeddings of BERT and its like."""
    found = {
        "backbone/token_embedding/table": state["word_embeddings.weight"],
        f"{path}/position/table": state["position_embeddings.weight"],
        f"{path}/segment/table": state["token_type_embeddings.weight"],
    }
    return found | state.norm(f"{path}/norm", "LayerNorm")


def bert_block(state: State, path: str, parts=("query", "key", "value")) -> Weights:
    self_attention = [f"attention.self.{part}" for part in parts]
    projections = state.linears(*self_attention, "attention.output.dense")
    feed_forward = state.linears("intermediate.dense", "output.dense")
    return {
        **weights.attention(f"{path}/attention", *projections),
        **state.norm(f"{path}/attention_norm", "attention.output.LayerNorm"),
        **weights.feed_forward(f"{path}/feed_forward", *feed_forward),
        **state.norm(f"{path}/feed_forward_norm", "output.LayerNorm"),
    }


def blocks(state: State, there: str, here: str, block: Callable) -> Weights:
    """All blocks of a stack."""
    found: Weights = {}
    for index in range(LAYERS):
        found |= block(state.below(f"{there}.{index}."), f"{here}/block_{index}")
    return found


def masked_lm_head(state: State, dense: str, norm: str, bias: str) -> Weights:
    path = "heads/masked_lm_head"
    return {
        **weights.dense(f"{path}/dense", state.linear(dense)),
        **state.norm(f"{path}/norm", norm),
        f"{path}/bias": state[bias],
    }


def bert(state: State) -> Weights:
    transform = "cls.predictions.transform"
    return {
        **embeddings(state.below("bert.embeddings."), "backbone/embeddings"),
        **blocks(state, "bert.encoder.layer", "backbone/encoder", bert_block),
        **masked_lm_head(state, f"{transform}.dense", f"{transform}.LayerNorm", "cls.predictions.bias"),
        **weights.dense("heads/pooler/dense", state.linear("bert.pooler.dense")),
        **weights.dense("heads/pair_head/dense", state.linear("cls.seq_relationship")),
    }


def roberta(state: State) -> Weights:
    return {
        **embeddings(state.below("roberta.embeddings."), "backbone/embeddings"),
        **blocks(state, "roberta.encoder.layer", "backbone/encoder", bert_block),
        **masked_lm_head(state, "lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    }


def albert(state: State) -> Weights:
    block = state.below("albert.encoder.albert_layer_groups.0.albert_layers.0.")
    path = "backbone/encoder/block_0"
    projections = block.linears(*(f"attention.{part}" for part in ("query", "key", "value", "dense")))
    projection = state.linear("albert.encoder.embedding_hidden_mapping_in")
    return {
        **embeddings(state.below("albert.embeddings."), "backbone/embeddings"),
        **weights.dense("backbone/projection", projection),
        **weights.attention(f"{path}/attention", *projections),
        **block.norm(f"{path}/attention_norm", "attention.LayerNorm"),
        **weights.feed_forward(f"{path}/feed_forward", *block.linears("ffn", "ffn_output")),
        **block.norm(f"{path}/feed_forward_norm", "full_layer_layer_norm"),
        **masked_lm_head(state, "predictions.dense", "predictions.LayerNorm", "predictions.bias"),
        **weights.dense("heads/pooler/dense", state.linear("albert.pooler")),
        **weights.dense("heads/pair_head/dense", state.linear("sop_classifier.classifier")),
    }


def deberta_block(state: State, path: str) -> Weights:
    return bert_block(state, path, parts=("query_proj", "key_proj", "value_proj"))


def deberta(state: State) -> Weights:
    transform, positions = "cls.predictions.transform", "backbone/encoder/positions"
    return {
        "backbone/token_embedding/table": state["deberta.embeddings.word_embeddings.weight"],
        **state.norm("backbone/embeddings/norm", "deberta.embeddings.LayerNorm"),
        **blocks(state, "deberta.encoder.layer", "backbone/encoder", deberta_block),
        f"{positions}/table": state["deberta.encoder.rel_embeddings.weight"],
        **state.norm(f"{positions}/norm", "deberta.encoder.LayerNorm"),
        **masked_lm_head(state, f"{transform}.dense", f"{transform}.LayerNorm", "cls.predictions.bias"),
    }


def gpt2_block(state: State, path: str) -> Weights:
    def conv1d(name):
        return state[f"{name}.weight"], state[f"{name}.bias"]

    kernel, bias = conv1d("attn.c_attn")
    return {
        **weights.dense(f"{path}/attention", (kernel, bias)),
        **weights.dense(f"{path}/attention/output", conv1d("attn.c_proj")),
        **state.norm(f"{path}/attention_norm", "ln_1"),
        **weights.feed_forward(f"{path}/feed_forward", conv1d("mlp.c_fc"), conv1d("mlp.c_proj")),
        **state.norm(f"{path}/feed_forward_norm", "ln_2"),
    }


def gpt2(state: State) -> Weights:
    return {
        "backbone/token_embedding/table": state["transformer.wte.weight"],
        "backbone/embeddings/position/table": state["transformer.wpe.weight"],
        **blocks(state, "transformer.h", "backbone/decoder", gpt2_block),
        **state.norm("backbone/decoder/final_norm", "transformer.ln_f"),
    }


def llama_block(state: State, path: str) -> Weights:
    projections = state.linears(*(f"self_attn.{part}_proj" for part in "qkvo"))
    inner, outer, gate = state.linears("mlp.up_proj", "mlp.down_proj", "mlp.gate_proj")
    return {
        **weights.attention(f"{path}/attention", *projections, groups=(2, 2)),
        **state.norm(f"{path}/attention_norm", "input_layernorm"),
        **weights.feed_forward(f"{path}/feed_forward", inner, outer, gate),
        **state.norm(f"{path}/feed_forward_norm", "post_attention_layernorm"),
    }


def llama_3_1(state: State) -> Weights:
    return {
        "backbone/token_embedding/table": state["model.embed_tokens.weight"],
        **blocks(state, "model.layers", "backbone/decoder", llama_block),
        **state.norm("backbone/decoder/final_norm", "model.norm"),
    }


def llama(state: State) -> Weights:
    return {**llama_3_1(state), "heads/table": state["lm_head.weight"]}


def t5_block(state: State, path: str, is_decoder: bool = False) -> Weights:
    attention = state.below("layer.0.").linears(*(f"SelfAttention.{part}" for part in "qkvo"))
    found = weights.attention(f"{path}/attention", *attention)
    found |= state.norm(f"{path}/attention_norm", "layer.0.layer_norm")
    if is_decoder:
        attention = state.below("layer.1.").linears(*(f"EncDecAttention.{part}" for part in "qkvo"))
        found |= weights.cross_attention(f"{path}/cross_attention", *attention)
        found |= state.norm(f"{path}/cross_attention_norm", "layer.1.layer_norm")
    last = state.below(f"layer.{2 if is_decoder else 1}.")
    found |= last.norm(f"{path}/feed_forward_norm", "layer_norm")
    return found | _t5_feed_forward(last.below("DenseReluDense."), f"{path}/feed_forward")


def _t5_feed_forward(state: State, path: str) -> Weights:
    try:
        return weights.feed_forward(path, *state.linears("wi", "wo"))
    except KeyError:
        return weights.feed_forward(path, *state.linears("wi_1", "wo", "wi_0"))


def t5(state: State) -> Weights:
    found = {"backbone/token_embedding/table": state["shared.weight"]}
    for stack in ("encoder", "decoder"):
        table = state[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]

        def block(state, path, is_decoder=stack == "decoder"):
            return t5_block(state, path, is_decoder)

        found |= blocks(state, f"{stack}.block", f"backbone/{stack}", block)
        found |= state.norm(f"backbone/{stack}/final_norm", f"{stack}.final_layer_norm")
        found[f"backbone/{stack}/positions/table"] = table
    return found


def t5_1_1(state: State) -> Weights:
    return {**t5(state), "heads/table": state["lm_head.weight"]}


def bart_block(state: State, path: str) -> Weights:
    parts = ("q_proj", "k_proj", "v_proj", "out_proj")
    found = weights.attention(f"{path}/attention", *state.linears(*(f"self_attn.{part}" for part in parts)))
    found |= state.norm(f"{path}/attention_norm", "self_attn_layer_norm")
    found |= weights.feed_forward(f"{path}/feed_forward", *state.linears("fc1", "fc2"))
    return found | state.norm(f"{path}/feed_forward_norm", "final_layer_norm")


def bart_decoder_block(state: State, path: str) -> Weights:
    parts = ("q_proj", "k_proj", "v_proj", "out_proj")
    attention = state.linears(*(f"encoder_attn.{part}" for part in parts))
    found = weights.cross_attention(f"{path}/cross_attention", *attention)
    found |= state.norm(f"{path}/cross_attention_norm", "encoder_attn_layer_norm")
    return found | bart_block(state, path)


def bart(state: State) -> Weights:
    found = {"backbone/token_embedding/table": state["model.shared.weight"]}
    for stack, block in (("encoder", bart_block), ("decoder", bart_decoder_block)):
        inputs = f"backbone/{stack}_embeddings"
        found[f"{inputs}/position/table"] = state[f"model.{stack}.embed_positions.weight"]
        found |= state.norm(f"{inputs}/norm", f"model.{stack}.layernorm_embedding")
        found |= blocks(state, f"model.{stack}.layers", f"backbone/{stack}", block)
    return found


def electra(state: State) -> Weights:
    discriminator, generator = state.below("discriminator."), state.below("generator.")
    decision = discriminator.below("discriminator_predictions.")
    return {
        **embeddings(discriminator.below("electra.embeddings."), "backbone/embeddings"),
        **weights.dense("backbone/projection", discriminator.linear("electra.embeddings_project")),
        **blocks(discriminator, "electra.encoder.layer", "backbone/encoder", bert_block),
        **weights.dense("heads/dense", decision.linear("dense")),
        **weights.dense("heads/decision", decision.linear("dense_prediction")),
        **weights.dense("heads/generator_projection", generator.linear("electra.embeddings_project")),
        **blocks(generator, "electra.encoder.layer", "heads/generator", bert_block),
        **masked_lm_head(
            generator,
            "generator_predictions.dense",
            "generator_predictions.LayerNorm",
            "generator_lm_head.bias",
        ),
    }
