"""Writes a small file for each prompt method and base: random weights of peft's, and the hidden states.

The base models are those of tests/models/golden. It runs in the environment of
tests/interop/peft/golden/make_peft_golden.py, so that the tests need neither torch nor peft:

    build/transformers/bin/python -m tests.tuning.golden.make_prompts_golden [NAME ...]

An npz holds the versions (`made_with`), the method's weights (`weight/...`), and the last hidden states of
the tokens (`hidden/last`), of the decoder where there is one, for the base's golden inputs.
"""

import argparse
import json
import pathlib

import numpy as np
import peft
import torch
import transformers

from tests.models.golden.transformers_families.loading import inputs_of, load

HERE = pathlib.Path(__file__).parent
MODELS = {
    "bert": (transformers.BertModel, transformers.BertConfig, "bert.", "FEATURE_EXTRACTION"),
    "llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig, "", "CAUSAL_LM"),
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config, "", "CAUSAL_LM"),
    "t5": (transformers.T5ForConditionalGeneration, transformers.T5Config, "", "SEQ_2_SEQ_LM"),
}
LENGTH = 2
METHODS = {
    "prefix": lambda task, **own: peft.PrefixTuningConfig(task, num_virtual_tokens=LENGTH, **own),
    "projected": lambda task, **own: peft.PrefixTuningConfig(
        task, num_virtual_tokens=LENGTH, prefix_projection=True, encoder_hidden_size=5, **own
    ),
    "prompt": lambda task, **own: peft.PromptTuningConfig(
        task, num_virtual_tokens=LENGTH, num_transformer_submodules=1
    ),
    "multitask": lambda task, **own: peft.MultitaskPromptTuningConfig(
        task, num_virtual_tokens=LENGTH, num_transformer_submodules=1, num_tasks=3, num_ranks=2
    ),
    "lstm": lambda task, **own: _p_tuning(task, "LSTM"),
    "mlp": lambda task, **own: _p_tuning(task, "MLP"),
}


def _p_tuning(task: str, kind: str) -> peft.PromptEncoderConfig:
    return peft.PromptEncoderConfig(
        task,
        num_virtual_tokens=LENGTH,
        num_transformer_submodules=1,
        encoder_reparameterization_type=kind,
        encoder_hidden_size=5,
        encoder_num_layers=2,
        encoder_dropout=0.0,
    )


# peft needs the sizes of a T5 whose heads are not as wide as the model's width over them.
OWN = {"t5": {"token_dim": 24, "num_attention_heads": 4}}
# What a network makes is read alike by every base; of several tasks, peft reads them in decoders alone.
ONLY = {"lstm": ("bert", "t5"), "mlp": ("bert", "t5"), "multitask": ("llama", "gpt2")}
# The task of each of the base's inputs, of several.
TASKS = [2, 0, 1]
CASES = {
    f"{base}_{method}": (base, method)
    for base in MODELS
    for method in METHODS
    if method not in ONLY or base in ONLY[method]
}


def states(model: torch.nn.Module, golden: dict[str, np.ndarray], task: str, **more) -> np.ndarray:
    inputs = inputs_of(golden, "input_ids", "attention_mask", "decoder_input_ids")
    with torch.no_grad():
        found = model(**inputs, output_hidden_states=True, **more)
    last = {
        "FEATURE_EXTRACTION": lambda: found.last_hidden_state,
        "CAUSAL_LM": lambda: found.hidden_states[-1],
        "SEQ_2_SEQ_LM": lambda: found.decoder_hidden_states[-1],
    }[task]()
    length = golden["input/decoder_input_ids" if task == "SEQ_2_SEQ_LM" else "input/input_ids"].shape[1]
    return last[:, -length:].numpy()


def make(name: str) -> None:
    base, method = CASES[name]
    *made, task = MODELS[base]
    model, golden = load(base, *made)
    before = states(model, golden, task)
    own = OWN.get(base, {}) if method in ("prefix", "projected") else {}
    model = peft.get_peft_model(model, METHODS[method](task, **own)).eval()
    torch.manual_seed(0)
    encoder = model.prompt_encoder["default"]
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.7)
    more = {"task_ids": torch.tensor(TASKS)} if method == "multitask" else {}
    found = states(model, golden, task, **more)
    made_with = {
        "peft": peft.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": f"python -m tests.tuning.golden.make_prompts_golden {name}",
        "base": base,
        "method": method,
    }
    weights = {f"weight/{key}": each.numpy() for key, each in encoder.state_dict().items()}
    path = HERE / f"{name}.npz"
    np.savez_compressed(path, made_with=json.dumps(made_with), **weights, **{"hidden/last": found})
    print(f"{path}: {path.stat().st_size} bytes, differs from its base by {np.abs(found - before).max():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all if none")
    for name in parser.parse_args().names or CASES:
        make(name)


if __name__ == "__main__":
    main()
