"""The kinds of adapters that both libraries have: their settings and tensors, each way."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from firth.interop.errors import InteropError
from firth.interop.hugging_face.rules import Array
from firth.interop.peft.kind import SETTINGS, Config, PeftKind, Tensors
from firth.interop.peft.layers import AdapterKind, ByModule, Module
from firth.interop.peft.prompts import PrefixKind, PromptKind, length_of
from firth.recipes.tuning.adding import IA3, AdaLoRA, LoHa, LoRA
from firth.recipes.tuning.prompts import (
    MultitaskPromptTuning,
    PrefixTuning,
    PromptTuning,
    PTuning,
    PTuningV2,
)


def _own(config: Config, patterns: str, name: str, otherwise: Any) -> Any:
    """Returns a layer's value: that of the first pattern that names the end of its name, or another one."""
    found = (value for key, value in (config.get(patterns) or {}).items() if _named(key, name))
    return next(found, otherwise)


def _named(pattern: str, name: str) -> bool:
    return re.match(rf"(.*\.)?({pattern})$", name) is not None


def _paths(places: Mapping[str, list[str]]) -> tuple[str, ...]:
    return tuple(path for each in places.values() for path in each)


def _positive(config: Config, key: str) -> float:
    value: float = config[key]
    if not value > 0:
        raise InteropError(f"{key}: {value} cannot be expressed here, a number above 0 can")
    return value


# All other beginnings change the base's weights, and peft changes them again when it loads an adapter.
_LEAVES_BASE = (None, True, False, "gaussian", "orthogonal", "eva")


def _check_start(config: Config) -> None:
    start = config.get("init_lora_weights")
    if start not in _LEAVES_BASE:
        raise InteropError(
            f"init_lora_weights: {start!r} changes the base's weights; convert it to LoRA in peft"
        )


def _greatest_rank(layers: ByModule, end: str) -> int:
    return max(tensors[end].shape[0] for tensors in layers.values())


def _lora_method(config: Config, layers: ByModule, places: Mapping[str, list[str]]) -> LoRA:
    _check_start(config)
    return LoRA(
        targets=_paths(places),
        rank=_greatest_rank(layers, "lora_A.weight"),
        alpha=_positive(config, "lora_alpha"),
        rank_stabilised=bool(config.get("use_rslora")),
        dropout=config.get("lora_dropout", 0.0),
    )


def _lora_scale(alpha: float, rank: int, stabilised: bool) -> float:
    return alpha / (math.sqrt(rank) if stabilised else rank)


def _read_lora(module: Module, tensors: Tensors, config: Config, method: LoRA) -> dict[str, Array]:
    """Returns A and B with as many ranks as the greatest has, of which those beyond its own are zeros."""
    rank = len(tensors["lora_A.weight"])
    alpha = _own(config, "alpha_pattern", module.name, config["lora_alpha"])
    theirs = _lora_scale(alpha, rank, method.rank_stabilised)
    scale = theirs / _lora_scale(method.alpha, method.rank, method.rank_stabilised)
    more = method.rank - rank
    down = tensors["lora_A.weight"][:, module.rows].T
    up = tensors["lora_B.weight"][module.columns].T * scale
    return {"down": np.pad(down, ((0, 0), (0, more))), "up": np.pad(up, ((0, more), (0, 0)))}


def _write_lora(
    modules: Sequence[Module], weights: Sequence[Tensors], method: LoRA
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Returns the projections' A and B one after the other: each B gives its own outputs alone."""
    rank = method.rank * len(modules)
    down = np.zeros((rank, len(modules[0].rows)), "float32")
    up = np.zeros((modules[0].outputs, rank), "float32")
    for number, (module, each) in enumerate(zip(modules, weights, strict=True)):
        begin = number * method.rank
        down[begin : begin + method.rank, module.rows] = each["down"].T
        up[module.columns, begin : begin + method.rank] = each["up"].T
    alpha = method.alpha * (math.sqrt(len(modules)) if method.rank_stabilised else len(modules))
    own = {"rank_pattern": rank, "alpha_pattern": alpha} if len(modules) > 1 else {}
    return {"lora_A.weight": down, "lora_B.weight": up}, own


def _lora_config(method: LoRA, layers: ByModule, inputs_first: bool) -> dict[str, Any]:
    return {
        "r": method.rank,
        "lora_alpha": method.alpha,
        "lora_dropout": method.dropout,
        "use_rslora": method.rank_stabilised,
        "bias": "none",
        "fan_in_fan_out": inputs_first,
        "target_modules": list(layers),
    }


# By peft's key, the attribute that says when ranks are taken away, or which.
_SCHEDULE = {
    "tinit": "initial_steps",
    "tfinal": "final_steps",
    "deltaT": "steps_between",
    "beta1": "smoothing",
    "beta2": "uncertainty_smoothing",
    "orth_reg_weight": "orthogonality",
}


def _adalora_method(config: Config, layers: ByModule, places: Mapping[str, list[str]]) -> AdaLoRA:
    _check_start(config)
    return AdaLoRA(
        targets=_paths(places),
        initial_rank=config["init_r"],
        # A greater target, peft's default for a file with init_r alone, means that no rank is removed.
        target_rank=min(config["target_r"], config["init_r"]),
        alpha=_positive(config, "lora_alpha"),
        dropout=config.get("lora_dropout", 0.0),
        **{ours: config[theirs] for theirs, ours in _SCHEDULE.items() if config.get(theirs) is not None},
    )


def _read_adalora(module: Module, tensors: Tensors, config: Config, method: AdaLoRA) -> dict[str, Array]:
    # What peft has taken away is not in its file; the product is still divided by the rank at the start.
    more = method.initial_rank - len(tensors["lora_A"])
    return {
        "down": np.pad(tensors["lora_A"][:, module.rows].T, ((0, 0), (0, more))),
        "values": np.pad(tensors["lora_E"].reshape(-1), (0, more)),
        "up": np.pad(tensors["lora_B"][module.columns].T, ((0, more), (0, 0))),
    }


def _write_adalora(
    modules: Sequence[Module], weights: Sequence[Tensors], method: AdaLoRA
) -> tuple[dict[str, Array], dict[str, Any]]:
    [module], [own] = modules[:1], weights[:1]
    if len(modules) > 1 or len(module.columns) < module.outputs:
        raise InteropError(f"{module.name}: peft has no AdaLoRA of a layer that is several projections")
    up = own["up"].T[np.argsort(module.columns)]
    down = own["down"].T[:, np.argsort(module.rows)]
    return {"lora_A": down, "lora_B": up, "lora_E": own["values"][:, None]}, {}


def _adalora_config(method: AdaLoRA, layers: ByModule, inputs_first: bool) -> dict[str, Any]:
    return {
        "init_r": method.initial_rank,
        "target_r": method.target_rank,
        "lora_alpha": method.alpha,
        "lora_dropout": method.dropout,
        "total_step": method.initial_steps + method.final_steps + 1,
        **{theirs: getattr(method, ours) for theirs, ours in _SCHEDULE.items()},
        "bias": "none",
        "fan_in_fan_out": inputs_first,
        "target_modules": list(layers),
    }


_HADA = ("hada_w1_a", "hada_w1_b", "hada_w2_a", "hada_w2_b")


def _loha_method(config: Config, layers: ByModule, places: Mapping[str, list[str]]) -> LoHa:
    return LoHa(
        targets=_paths(places), rank=_greatest_rank(layers, "hada_w1_b"), alpha=_positive(config, "alpha")
    )


def _read_loha(module: Module, tensors: Tensors, config: Config, method: LoHa) -> dict[str, Array]:
    alpha = _own(config, "alpha_pattern", module.name, config["alpha"])
    rank = len(tensors["hada_w1_b"])
    scale = (alpha / rank) / (method.alpha / method.rank)
    more = method.rank - rank
    found = {}
    for ours, theirs in {"first": "hada_w1", "second": "hada_w2"}.items():
        down = tensors[f"{theirs}_b"][:, module.rows].T
        up = tensors[f"{theirs}_a"][module.columns].T * (scale if ours == "second" else 1.0)
        found[f"{ours}_down"] = np.pad(down, ((0, 0), (0, more)))
        found[f"{ours}_up"] = np.pad(up, ((0, more), (0, 0)))
    return found


def _write_loha(
    modules: Sequence[Module], weights: Sequence[Tensors], method: LoHa
) -> tuple[dict[str, Array], dict[str, Any]]:
    [module], [own] = modules[:1], weights[:1]
    if len(module.columns) < module.outputs:
        raise InteropError(f"{module.name}: peft has no LoHa of a layer that is several projections")
    made = {}
    for ours, theirs in {"first": "hada_w1", "second": "hada_w2"}.items():
        made[f"{theirs}_a"] = own[f"{ours}_up"].T[np.argsort(module.columns)]
        made[f"{theirs}_b"] = own[f"{ours}_down"].T[:, np.argsort(module.rows)]
    return made, {}


def _loha_config(method: LoHa, layers: ByModule, inputs_first: bool) -> dict[str, Any]:
    if inputs_first:
        raise InteropError("peft has no LoHa of layers whose weights are [inputs, outputs], as of GPT-2's")
    return {"r": method.rank, "alpha": method.alpha, "target_modules": list(layers)}


def _reads(tensors: Tensors) -> bool:
    """Returns true if a vector multiplies the inputs of a layer: a row; a column multiplies its outputs."""
    return tensors["ia3_l"].shape[0] == 1


def _ia3_method(config: Config, layers: ByModule, places: Mapping[str, list[str]]) -> IA3:
    # Each projection of a layer reads the layer's input.
    return IA3(
        targets=_paths({name: each for name, each in places.items() if not _reads(layers[name])}),
        input_targets=_paths({name: each for name, each in places.items() if _reads(layers[name])}),
    )


def _read_ia3(module: Module, tensors: Tensors, config: Config, method: IA3) -> dict[str, Array]:
    vector = tensors["ia3_l"].reshape(-1)
    return {"scale": vector[module.rows if _reads(tensors) else module.columns]}


def _write_ia3(
    modules: Sequence[Module], weights: Sequence[Tensors], method: IA3
) -> tuple[dict[str, Array], dict[str, Any]]:
    if any(each["of_inputs"] for each in weights):
        [module], [own] = modules[:1], weights[:1]
        if len(module.columns) < module.outputs:
            raise InteropError(
                f"{module.name}: peft multiplies what all of its projections read by one vector"
            )
        return {"ia3_l": own["scale"][np.argsort(module.rows)][None]}, {}
    vector = np.ones((modules[0].outputs, 1), "float32")
    for module, own in zip(modules, weights, strict=True):
        vector[module.columns, 0] = own["scale"]
    return {"ia3_l": vector}, {}


def _ia3_config(method: IA3, layers: ByModule, inputs_first: bool) -> dict[str, Any]:
    reading = [name for name, tensors in layers.items() if _reads(tensors)]
    said = {"target_modules": list(layers), "feedforward_modules": reading}
    return {**said, "fan_in_fan_out": inputs_first}


def _multitask(config: Config) -> MultitaskPromptTuning:
    sizes = {"tasks": config["num_tasks"], "rank": config["num_ranks"]}
    return MultitaskPromptTuning(length=length_of(config), **sizes)


def _multitask_config(method: MultitaskPromptTuning) -> dict[str, Any]:
    return {"num_tasks": method.tasks, "num_ranks": method.rank, "prompt_tuning_init": "RANDOM"}


_MULTITASK = {"prompt_embeddings": "vectors", "prefix_task_cols": "columns", "prefix_task_rows": "rows"}
_PLAIN_LORA = SETTINGS["plain_lora"]
_KNOWN_LORA = frozenset((*SETTINGS["layers"], *SETTINGS["lora"]))
_KNOWN_ADALORA = _KNOWN_LORA | {"init_r", "target_r", "total_step", *_SCHEDULE}
_KNOWN_LOHA = frozenset((*SETTINGS["layers"], *SETTINGS["loha"]))
_KNOWN_IA3 = frozenset((*SETTINGS["layers"], *SETTINGS["ia3"]))
KINDS: dict[str, PeftKind] = {
    "lora": AdapterKind(
        "LORA",
        ("lora_A.weight", "lora_B.weight"),
        _PLAIN_LORA,
        _lora_method,
        _read_lora,
        _write_lora,
        _lora_config,
        _KNOWN_LORA,
    ),
    "adalora": AdapterKind(
        "ADALORA",
        ("lora_A", "lora_B", "lora_E"),
        _PLAIN_LORA,
        _adalora_method,
        _read_adalora,
        _write_adalora,
        _adalora_config,
        _KNOWN_ADALORA,
    ),
    "loha": AdapterKind(
        "LOHA",
        _HADA,
        {"use_effective_conv2d": False},
        _loha_method,
        _read_loha,
        _write_loha,
        _loha_config,
        _KNOWN_LOHA,
    ),
    "ia3": AdapterKind("IA3", ("ia3_l",), {}, _ia3_method, _read_ia3, _write_ia3, _ia3_config, _KNOWN_IA3),
    # With or without the network that made them in training, peft keeps the keys and values alone.
    "prefix_tuning": PrefixKind(
        "PREFIX_TUNING",
        lambda config: PrefixTuning(length=length_of(config), reparameterised=False, encoder=False),
        lambda method: {"prefix_projection": True, "encoder_hidden_size": method.hidden},
        {"prefix_projection": True},
    ),
    "p_tuning_v2": PrefixKind(
        "PREFIX_TUNING",
        lambda config: PTuningV2(length=length_of(config), encoder=False),
        lambda method: {"prefix_projection": False},
        {"prefix_projection": False},
    ),
    "prompt_tuning": PromptKind(
        "PROMPT_TUNING",
        lambda config: PromptTuning(length=length_of(config)),
        lambda method: {"prompt_tuning_init": "RANDOM"},
    ),
    "p_tuning": PromptKind(
        "P_TUNING",
        lambda config: PTuning(length=length_of(config), encoder="none"),
        lambda method: {"encoder_reparameterization_type": "MLP"},
    ),
    "multitask_prompt_tuning": PromptKind(
        "MULTITASK_PROMPT_TUNING", _multitask, _multitask_config, weights=_MULTITASK
    ),
}
