"""Writes a small folder for each adapter: what peft saves of random weights, and the hidden states with them.

The base models are those of tests/models/golden. It runs in the environment of make_transformers_golden.py,
so that the tests need neither torch nor peft:

    build/transformers/bin/pip install peft==0.21.2
    build/transformers/bin/python -m tests.interop.peft.golden.make_peft_golden [NAME ...]

A folder holds peft's `adapter_config.json` and `adapter_model.safetensors`, and in `answers.npz` the versions
(`made_with`) and the last hidden states (`hidden/last`) for the base's golden inputs.

With `--read FOLDER BASE`, it loads an adapter that firth has written, on a base of tests/models/golden, and
prints how far the hidden states are from those of `answers.npz` in that folder. With `--allocation`, it
writes `adalora_allocation.npz`, which tests/tuning reads.
"""

import argparse
import functools
import json
import pathlib
from collections.abc import Callable

import numpy as np
import peft
import torch
import transformers

from tests.models.golden.transformers_families.loading import last_states, load
from tests.tuning.golden import make_prompts_golden

HERE = pathlib.Path(__file__).parent
MODELS = {
    "bert": (transformers.BertModel, transformers.BertConfig, "bert."),
    "llama": (transformers.LlamaModel, transformers.LlamaConfig, "model."),
    "gpt2": (transformers.GPT2Model, transformers.GPT2Config, "transformer."),
}
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
ADAPTERS = {
    "bert_lora": ("bert", peft.LoraConfig(r=2, lora_alpha=3, target_modules=["query", "value"])),
    "bert_rslora": (
        "bert",
        peft.LoraConfig(
            r=3,
            lora_alpha=2,
            use_rslora=True,
            target_modules=["key", "output.dense", "intermediate.dense"],
            rank_pattern={"intermediate.dense": 2},
            alpha_pattern={"1.attention.self.key": 5},
        ),
    ),
    "llama_lora": ("llama", peft.LoraConfig(r=2, target_modules=LINEAR)),
    "gpt2_lora": ("gpt2", peft.LoraConfig(r=2, fan_in_fan_out=True, target_modules=["c_attn", "c_proj"])),
    "bert_ia3": ("bert", peft.IA3Config()),
    "llama_ia3": ("llama", peft.IA3Config()),
    "bert_adalora": (
        "bert",
        peft.AdaLoraConfig(
            init_r=3, target_r=2, lora_alpha=4, total_step=9, target_modules=["query", "output.dense"]
        ),
    ),
    "llama_loha": ("llama", peft.LoHaConfig(r=2, alpha=3, target_modules=["q_proj", "o_proj", "gate_proj"])),
    "bert_prefix": ("bert", peft.PrefixTuningConfig("FEATURE_EXTRACTION", num_virtual_tokens=2)),
    "llama_prefix": ("llama", peft.PrefixTuningConfig("CAUSAL_LM", num_virtual_tokens=2)),
    "gpt2_projected": (
        "gpt2",
        peft.PrefixTuningConfig(
            "CAUSAL_LM", num_virtual_tokens=2, prefix_projection=True, encoder_hidden_size=5
        ),
    ),
    # peft needs the sizes of a T5 whose heads are not as wide as the model's width over them.
    "t5_prefix": (
        "t5",
        peft.PrefixTuningConfig("SEQ_2_SEQ_LM", num_virtual_tokens=2, token_dim=24, num_attention_heads=4),
    ),
    "bert_prompt": ("bert", peft.PromptTuningConfig("FEATURE_EXTRACTION", num_virtual_tokens=2)),
    "t5_prompt": (
        "t5",
        peft.PromptTuningConfig("SEQ_2_SEQ_LM", num_virtual_tokens=2, num_transformer_submodules=1),
    ),
    "llama_p_tuning": (
        "llama",
        peft.PromptEncoderConfig("CAUSAL_LM", num_virtual_tokens=2, encoder_hidden_size=5),
    ),
    "gpt2_multitask": (
        "gpt2",
        peft.MultitaskPromptTuningConfig("CAUSAL_LM", num_virtual_tokens=2, num_tasks=3, num_ranks=2),
    ),
}


def base_of(name: str, config: peft.PeftConfig) -> tuple[torch.nn.Module, dict[str, np.ndarray], Callable]:
    """Returns the base of an adapter, its golden file, and the function to the last hidden states."""
    if not config.is_prompt_learning:
        return *load(name, *MODELS[name]), last_states
    *made, task = make_prompts_golden.MODELS[name]
    several = getattr(config, "num_tasks", 1) > 1
    more = {"task_ids": torch.tensor(make_prompts_golden.TASKS)} if several else {}
    return *load(name, *made), functools.partial(make_prompts_golden.states, task=task, **more)


def make(name: str) -> None:
    base, config = ADAPTERS[name]
    model, golden, states_of = base_of(base, config)
    model = peft.get_peft_model(model, config).eval()
    torch.manual_seed(0)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(torch.randn(parameter.shape) * 0.3 + ("ia3" in key))
    found = states_of(model, golden)
    made_with = {
        "peft": peft.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": f"python -m tests.interop.peft.golden.make_peft_golden {name}",
        "base": base,
    }
    folder = HERE / name
    model.save_pretrained(folder)
    (folder / "README.md").unlink()
    np.savez_compressed(folder / "answers.npz", made_with=json.dumps(made_with), **{"hidden/last": found})
    size = sum(each.stat().st_size for each in folder.iterdir())
    print(f"{folder}: {size} bytes, {np.abs(found).max():.3f} at most")


# What the budget of AdaLoRA is tried on: two layers by their inputs and outputs, and seven steps.
ALLOCATION = {"first": (4, 5), "second": (6, 4)}
SCHEDULE = {"init_r": 3, "target_r": 1, "tinit": 1, "tfinal": 2, "deltaT": 2, "total_step": 7}


def make_allocation() -> None:
    """Writes which entries AdaLoRA keeps: after each step its diagonals, for gradients drawn at random.

    Each step is one of plain descent with a rate of 0.1. `penalty` is what is added to the loss at the start.
    """
    torch.manual_seed(0)
    layers = torch.nn.ModuleDict({name: torch.nn.Linear(*sizes) for name, sizes in ALLOCATION.items()})
    model = peft.get_peft_model(layers, peft.AdaLoraConfig(target_modules=list(ALLOCATION), **SCHEDULE))
    trained = {key: each for key, each in model.named_parameters() if each.requires_grad}
    found: dict[str, np.ndarray] = {}
    squares = []
    with torch.no_grad():
        for key, each in trained.items():
            each.copy_(torch.randn(each.shape) * 0.3)
            if "lora_E" not in key:
                products = each @ each.T if "lora_A" in key else each.T @ each
                squares.append(torch.norm(products - torch.eye(len(products))))
            found[f"weight/{key.removeprefix('base_model.model.')}"] = each.numpy().copy()
        found["penalty"] = np.array(0.5 * sum(squares) / len(squares))
        for step in range(1, SCHEDULE["total_step"] + 1):
            for key, each in trained.items():
                each.grad = torch.randn(each.shape)
                found[f"gradient/{step}/{key.removeprefix('base_model.model.')}"] = each.grad.numpy().copy()
                each -= 0.1 * each.grad
            model.base_model.update_and_allocate(step)
            for name in ALLOCATION:
                values = model.base_model.model[name]
                found[f"values/{step}/{name}"] = values.lora_E["default"].numpy().reshape(-1).copy()
    made_with = {
        "peft": peft.__version__,
        "torch": torch.__version__,
        "command": "python -m tests.interop.peft.golden.make_peft_golden --allocation",
        **SCHEDULE,
    }
    path = HERE / "adalora_allocation.npz"
    np.savez_compressed(path, made_with=json.dumps(made_with), **found)
    print(f"{path}: {path.stat().st_size} bytes")


def read(folder: str, base: str) -> None:
    model, golden, states_of = base_of(base, peft.PeftConfig.from_pretrained(folder))
    with np.load(pathlib.Path(folder) / "answers.npz") as answers:
        expected = answers["hidden/last"]
    found = states_of(peft.PeftModel.from_pretrained(model, folder).eval(), golden)
    print(f"{folder}: {np.abs(found - expected).max()} at most from {np.abs(expected).max()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ADAPTERS)}; all if none")
    parser.add_argument("--read", nargs=2, metavar=("FOLDER", "BASE"))
    parser.add_argument("--allocation", action="store_true", help="AdaLoRA's budget alone")
    arguments = parser.parse_args()
    if arguments.allocation:
        make_allocation()
        return
    if arguments.read:
        read(*arguments.read)
        return
    for name in arguments.names or ADAPTERS:
        make(name)


if __name__ == "__main__":
    main()
