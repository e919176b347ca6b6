"""Walks every key of transformers' configuration classes of the families that come in.

Each key is set to other valid values, in the tiny model of each golden file, and what the model computes
then is written down. It runs in the environment of tests/models/golden/make_transformers_golden.py:

    build/transformers/bin/python tests/interop/hugging_face/golden/make_keys_golden.py

`keys.npz` holds under `walk` a JSON of all models by the name of their golden file: the keys, their other
names (`attribute_map`), and of each changed configuration which keys it has otherwise, which it lacks
(`without`), the shapes of its tensors, and its answer, an array of the same file: the losses that golden
files of a model have, and some of its last hidden states. Weights follow from their names, see
`key_weights.py`. `config_keys_test.py` compares the models of ours.
"""

import copy
import dataclasses
import importlib
import json
import pathlib
import re
import sys
import warnings

import numpy as np
import torch
import transformers

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[2] / "models" / "golden")]

from key_weights import weight_of  # noqa: E402
from transformers_families import decoders, electra, encoder_decoders, encoders, xlnet  # noqa: E402
from transformers_families.family import VOCABULARY, Family, last_states  # noqa: E402

OUTPUT = FOLDER / "keys.npz"
# That no tests of ours read, or that say where a file comes from.
LEFT_OUT = ("model_type", "quantization_config", "dtype", "torch_dtype", "transformers_version")
ACTIVATIONS = ["relu", "silu", "swish", "gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_python", "tanh"]
ACTIVATIONS += ["quick_gelu"]
ROPE = {"rope_type": "default", "rope_theta": 100.0}
SCALED = {"factor": 8.0, "original_max_position_embeddings": 64}
LLAMA_3 = {**ROPE, **SCALED, "rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
OTHERS = {
    **dict.fromkeys(
        ("hidden_act", "activation", "activation_function", "afn", "ff_activation", "dense_act_fn"),
        ACTIVATIONS,
    ),
    **{key: ["tanh", "relu"] for key in ("pooler_hidden_act", "summary_activation", "conv_act")},
    **{key: [2] for key in ("num_attention_heads", "n_head", "n_heads", "num_heads")},
    **{key: [2] for key in ("encoder_attention_heads", "decoder_attention_heads")},
    **{key: [32] for key in ("hidden_size", "d_model", "n_embd", "dim")},
    **{key: [1, 3] for key in ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers")},
    **{key: [1, 3] for key in ("num_decoder_layers", "decoder_layers")},
    **{key: [20] for key in ("max_position_embeddings", "n_positions")},
    **{key: [8, 6] for key in ("head_dim", "d_kv")},
    **{key: [4, 8] for key in ("attention_head_size", "d_head")},
    "feed_forward_proj": ["relu", "gelu", "silu", "gated-relu", "gated-silu", "gated-gelu"],
    "num_key_value_heads": [1, 4],
    "embedding_size": [12, 16],
    "vocab_size": [48],
    "n_token": [48],
    "chunk_size_feed_forward": [3],
    "pos_att_type": [["c2p"], ["p2c"], ["c2p", "p2c"], "p2c|c2p", "C2P"],
    "norm_rel_ebd": ["none", "Layer_Norm"],
    "position_buckets": [-1, 0, 2, 8],
    "max_relative_positions": [-1, 5, 16],
    "relative_attention_num_buckets": [4, 16],
    "relative_attention_max_distance": [5, 20],
    "position_embedding_type": ["relative_key", "relative_key_query"],
    "attn_type": ["uni"],
    "layer_types": [["sliding_attention", "full_attention"], ["full_attention", "full_attention"]],
    "sliding_window": [4],
    "max_window_layers": [1],
    "attention_chunk_size": [4],
    "rope_parameters": [
        {**ROPE, "rope_theta": 50.0},
        {"rope_theta": 50.0},
        {**ROPE, **SCALED, "rope_type": "linear"},
        {**ROPE, **SCALED, "rope_type": "dynamic"},
        {**ROPE, **SCALED, "rope_type": "yarn"},
        LLAMA_3,
        {**LLAMA_3, "factor": 2.0},
        {**LLAMA_3, "partial_rotary_factor": 0.5},
        {**ROPE, "attention_factor": 2.0},
        {key: value for key, value in LLAMA_3.items() if key != "original_max_position_embeddings"},
        None,
    ],
    "rope_scaling": [{"type": "linear", "factor": 2.0}, LLAMA_3, {"rope_type": "default"}],
    "rope_theta": [50.0],
    "partial_rotary_factor": [0.5],
    "original_max_position_embeddings": [32],
    "per_layer_config": [{"0": {"attention_dropout": 0.5}}],
    "pruned_heads": [{"0": [1]}],
    "id2label": [{"0": "a", "1": "b", "2": "c"}],
    "label2id": [{"a": 0, "b": 1}],
    "problem_type": ["regression"],
    "summary_type": ["mean"],
    "architectures": [["SomeModel"]],
    "task_specific_params": [{"summary": {"num_beams": 2}}],
    "clamp_len": [2],
    "type_vocab_size": [1, 3],
    # Positions of RoBERTa follow from it; no token of the inputs has these ids.
    "pad_token_id": [0, 1, None],
    "tie_word_embeddings": [True, False],
    "is_causal": [True, False],
    "is_decoder": [True, False],
    "n_inner": [None, 32],
    "decoder_start_token_id": [1],
    "eos_token_id": [3, [3, 4]],
}
# Keys of older releases, and those that code of other releases or of other families reads.
MORE = ["is_causal", "is_decoder", "add_cross_attention", "position_embedding_type", "pruned_heads"]
MORE += ["per_layer_config", "task_specific_params", "sliding_window", "layer_types", "is_encoder_decoder"]
MORE += ["attention_chunk_size", "tie_encoder_decoder", "use_bidirectional_attention", "attention_bias"]
MORE += ["rope_theta", "rope_scaling", "partial_rotary_factor", "original_max_position_embeddings"]
WITH_LOSSES = ("loss/mlm", "loss/nsp", "loss/sop", "loss/lm")
# Functions and names that the expression below takes for keys.
NO_KEYS = {"get_text_config", "to_dict", "num_labels", "is_heterogeneous", "rope_utils", "json"}


def run_electra(model, inputs):
    given = {name: inputs[name] for name in ("attention_mask", "token_type_ids")}
    return last_states(model, {**given, "input_ids": inputs["replaced_ids"]})


def run_xlnet(model, inputs):
    return last_states(model, inputs)


FAMILIES: dict[str, Family] = {
    name: family
    for module in (encoders, electra, xlnet, decoders, encoder_decoders)
    for name, family in module.FAMILIES.items()
    if name != "modernbert"
}
# ELECTRA's discriminator alone, and XLNet without an order.
FAMILIES["electra"] = dataclasses.replace(
    FAMILIES["electra"], model=transformers.ElectraForPreTraining, run=run_electra
)
FAMILIES["xlnet"] = dataclasses.replace(FAMILIES["xlnet"], run=run_xlnet)


def keys_of(family: Family) -> list[str]:
    """Returns the keys of a configuration, and the names that the model's code reads of one."""
    config = family.config(**copy.deepcopy(family.settings))
    fields = {each.name for each in dataclasses.fields(config) if not each.name.startswith("_")}
    modeling = importlib.import_module(family.config.__module__.replace("configuration", "modeling"))
    source = pathlib.Path(modeling.__file__).read_text()
    read = set(re.findall(r"\bconfig\.([a-z][a-z_0-9]+)\b(?!\()", source))
    read |= set(re.findall(r'(?:get|has)attr\((?:self\.)?config, *"([a-z_0-9]+)"', source))
    return sorted((fields | {*config.to_dict(), *config.attribute_map, *read, *MORE}) - NO_KEYS - {*LEFT_OUT})


def others(key: str, value: object) -> list:
    """Returns other values of a key."""
    if key in OTHERS:
        return [each for each in OTHERS[key] if each != value or type(each) is not type(value)]
    if key.endswith("_token_id"):
        return [3]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, float) or "drop" in key:
        return [0.5 if "drop" in key else (value or 0.02) * 10]
    if isinstance(value, int):
        return [value + 1, value * 2] if value else [1]
    if isinstance(value, str):
        return ["tanh" if "act" in key else "other"]
    return [True, 1]


def changed(family: Family) -> list[tuple[str, object, dict, list[str]]]:
    """Returns of each change its key and value, what the configuration then says, and what it lacks."""
    config = family.config(**copy.deepcopy(family.settings))
    whole, aliases, found = config.to_dict(), dict(config.attribute_map), []
    for key in keys_of(family):
        own = aliases.get(key, key)
        for value in others(key, whole.get(own)):
            if own == key:
                found.append((key, value, {key: value}, []))
            else:
                # The other name alone, and next to the key.
                found.append((key, value, {key: value}, [own]))
                found.append((key, value, {key: value}, []))
    return found


def answer(family: Family, config: dict):
    """Returns the shapes of the tensors and the answer of a model."""
    made = family.config.from_dict(copy.deepcopy(config))
    model = family.model(made).eval()
    shapes = {}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            shapes[name] = list(parameter.shape)
            parameter.copy_(torch.tensor(weight_of(name, parameter.shape)))
        inputs = family.inputs(np.random.default_rng(0))
        found = family.run(model, {key: torch.tensor(value) for key, value in inputs.items()})
    real = inputs.get("decoder_attention_mask", inputs["attention_mask"]) > 0
    states = found["hidden/last"].numpy()[real][::3, :3].reshape(-1)
    losses = [float(found[name]) for name in WITH_LOSSES if name in found]
    array = np.array([*losses, *states], "float32")
    if not np.isfinite(array).all():
        raise ValueError("not finite")
    return shapes, array


def main() -> None:
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity(50)
    walk: dict = {}
    arrays: list[np.ndarray] = []
    tables: list[dict] = []
    for name, family in FAMILIES.items():
        plain = json.loads(json.dumps(family.settings))
        entries, invalid = [], []
        for key, value, more, without in [("", None, {}, []), *changed(family)]:
            config = {each: said for each, said in plain.items() if each not in without} | more
            try:
                shapes, found = answer(family, json.loads(json.dumps(config)))
            except Exception as error:  # Any: what transformers cannot build is no valid value.
                invalid.append(f"{key}={value!r}: {type(error).__name__}")
                continue
            number = next((n for n, each in enumerate(arrays) if np.array_equal(each, found)), len(arrays))
            arrays[number:] = arrays[number:] or [found]
            if shapes not in tables:
                tables.append(shapes)
            entry = {"key": key, "with": more, "without": without, "answer": number}
            entries.append({**entry, "shapes": tables.index(shapes)})
        walk[name] = {
            "keys": keys_of(family),
            "attribute_map": dict(family.config.attribute_map),
            "walked": entries,
        }
        print(f"{name}: {len(entries)} configurations; no valid values: {'; '.join(invalid)}", flush=True)
    generation = sorted(transformers.GenerationConfig()._get_default_generation_params())
    content = {"transformers": transformers.__version__, "torch": torch.__version__}
    content |= {"generation": generation, "tables": tables, "models": walk, "vocabulary": VOCABULARY}
    np.savez_compressed(
        OUTPUT,
        walk=json.dumps(content),
        **{f"answer/{number}": each for number, each in enumerate(arrays)},
    )
    print(f"{OUTPUT}: {OUTPUT.stat().st_size} bytes, {len(arrays)} answers, {len(tables)} tables of shapes")


if __name__ == "__main__":
    main()
