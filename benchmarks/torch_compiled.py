"""The speed of training steps of the same models on torch with torch.compile, from the same features.

python -m benchmarks.torch_compiled FOLDER [--steps 200] [--accelerator h100] [--mode default]

FOLDER is what `benchmarks.jax_features` wrote; the process is one with torch, transformers and firth's
recipes. BERT and GPT-2 are Hugging Face's, with scaled dot-product attention; ELMo is torch's LSTMs. The rows
are read as blocks without masks, and BERT's vocabulary is asked at the masked positions alone, which its own
`forward` does not do. Matrix products are in the recipe's precision, AdamW is fused, gradients are clipped.
Model FLOPs utilisation counts what `benchmarks.jax_worker` counts.
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
import transformers

from benchmarks.jax_carry import FEATURES, RECIPE, figures_of
from benchmarks.workers.batches import IGNORED
from benchmarks.workers.families import FAMILIES, Family, Size
from benchmarks.workers.torch_worker import ELMo
from benchmarks.workers.transformers_worker import MAKERS
from firth.recipes.counting.accelerators import ACCELERATORS
from firth.recipes.run.kinds import run_recipe_from_json
from firth.recipes.run.recipe import Recipe

# Steps between two looks at the clock, and such groups that are not timed: the first one compiles.
_OF_GROUP, _WARM = 10, 2
# Modes of torch.compile, and one that compiles nothing.
UNCOMPILED = "none"
MODES = ("default", "reduce-overhead", "max-autotune", UNCOMPILED)
Arrays = Mapping[str, np.ndarray]


class MaskedLM(torch.nn.Module):
    """Hugging Face's BERT, asked at the masked positions alone."""

    family = "bert"

    def __init__(self, family: Family, size: Size):
        super().__init__()
        self.model = MAKERS["bert"](family, size)

    def forward(self, ids, positions, labels):
        """Returns the mean loss of the predictions."""
        hidden = self.model.bert(ids).last_hidden_state
        picked = hidden.gather(1, positions[..., None].expand(-1, -1, hidden.shape[-1]))
        logits = self.model.cls(picked).flatten(0, 1)
        return torch.nn.functional.cross_entropy(logits.float(), labels.flatten(), ignore_index=IGNORED)

    @staticmethod
    def shape(model: Any) -> tuple[int, int, int]:
        """Returns the layers, the width and the heads of a recipe's model."""
        return model.layers, model.width, model.attention.heads

    @staticmethod
    def inputs(features: Arrays) -> dict[str, np.ndarray]:
        """Returns the arguments of the model."""
        labels = np.where(features["masked_weights"] > 0, features["masked_labels"], IGNORED)
        return {"ids": features["token_ids"], "positions": features["masked_positions"], "labels": labels}


class CausalLM(torch.nn.Module):
    """Hugging Face's GPT-2."""

    family = "gpt2"
    shape = MaskedLM.shape

    def __init__(self, family: Family, size: Size):
        super().__init__()
        self.model = MAKERS["gpt2"](family, size)

    def forward(self, ids, labels):
        """Returns the mean loss of the predictions."""
        return self.model(input_ids=ids, labels=labels).loss

    @staticmethod
    def inputs(features: Arrays) -> dict[str, np.ndarray]:
        """Returns the arguments of the model, which shifts the labels on its own."""
        ids = features["token_ids"]
        return {"ids": ids, "labels": np.where(features["document_ids"] > 0, ids, IGNORED)}


class BidirectionalLM(torch.nn.Module):
    """ELMo on torch's LSTMs."""

    family = "elmo"

    def __init__(self, family: Family, size: Size):
        super().__init__()
        self.model = ELMo(family, size)

    def forward(self, ids, characters, mask):
        """Returns the mean loss of both directions."""
        return self.model(ids, characters, mask).loss

    @staticmethod
    def shape(model: Any) -> tuple[int, int, int]:
        """Returns the layers of both directions, the width of one, and a head that nothing reads."""
        return 2 * model.layers, model.projection_width, 1

    @staticmethod
    def inputs(features: Arrays) -> dict[str, np.ndarray]:
        """Returns the arguments of the model."""
        mask = features["document_ids"] > 0
        return {"ids": features["token_ids"], "characters": features["characters"], "mask": mask}


# By the kind of an objective.
PEERS = {"masked_lm": MaskedLM, "causal_lm": CausalLM, "bidirectional_lm": BidirectionalLM}


def measure(folder: pathlib.Path, steps: int, accelerator: str | None, mode: str) -> dict[str, Any]:
    """Returns the figures of at least some steps, as `benchmarks.jax_worker` names it.

    Args:
        folder: Folder that `benchmarks.jax_features` wrote; its steps are made over and over.
        steps: Number of steps that are timed.
        accelerator: Name of the accelerator, whose rate utilisation is a share of; None for no share.
        mode: Mode of torch.compile, or `none` for a model that is not compiled.
    """
    recipe = run_recipe_from_json((folder / RECIPE).read_text())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    peer = PEERS[recipe.objective.kind]
    with np.load(folder / FEATURES) as file:
        made = peer.inputs(dict(file))
    batches = {name: torch.tensor(value).long().to(device) for name, value in made.items()}
    times, losses = timed(
        model_of(recipe, peer, device, mode), recipe, batches, _WARM + -(-steps // _OF_GROUP)
    )
    return {
        **figures_of(recipe, statistics.median(times[_WARM:]), losses, accelerator),
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "compiled": mode,
        "versions": f"torch {torch.__version__}, transformers {transformers.__version__}",
        "timed_steps": _OF_GROUP * (len(times) - _WARM),
    }


def model_of(recipe: Recipe, peer: Any, device: str, mode: str) -> torch.nn.Module:
    """Returns the peer's model in the size of a recipe's, compiled.

    Args:
        recipe: Recipe whose model's size it has.
        peer: Value of `PEERS`.
        device: Device that it is on.
        mode: Mode of torch.compile, or `none`.
    """
    torch.manual_seed(recipe.seed)
    torch.set_float32_matmul_precision("high" if device == "cuda" else "highest")
    family = dataclasses.replace(
        FAMILIES[peer.family], vocabulary=recipe.tokenizer.vocabulary_size, dropout=recipe.model.dropout
    )
    size = Size(*peer.shape(recipe.model), recipe.sequences.length, recipe.training.batch_size)
    model = peer(family, size).to(device).train()
    return model if mode == UNCOMPILED else torch.compile(model, mode=mode)


def timed(
    model: torch.nn.Module, recipe: Recipe, batches: Mapping[str, torch.Tensor], groups: int
) -> tuple[list[float], list[float]]:
    """Returns the seconds of a step in each group of steps, and the losses of all."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    times, losses = [], []
    ordered = _in_turn(batches)
    for _ in range(groups):
        begun = time.perf_counter()
        # Nothing is read back in between, as on JAX.
        made = [_step(model, optimizer, next(ordered), recipe) for _ in range(_OF_GROUP)]
        losses += torch.stack(made).tolist()
        times.append((time.perf_counter() - begun) / _OF_GROUP)
    return times, losses


def _in_turn(batches: Mapping[str, torch.Tensor]) -> Iterator[dict[str, torch.Tensor]]:
    while True:
        for values in zip(*batches.values(), strict=True):
            yield dict(zip(batches, values, strict=True))


def _step(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Mapping[str, torch.Tensor],
    recipe: Recipe,
) -> torch.Tensor:
    device = next(iter(batch.values())).device.type
    with torch.autocast(device, torch.bfloat16, enabled=recipe.training.precision == "mixed_bfloat16"):
        loss = model(**batch)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    # With CUDA graphs its memory is that of the next step's.
    return loss.detach().clone()


def main() -> None:
    """Prints a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--accelerator", choices=sorted(ACCELERATORS))
    parser.add_argument("--mode", choices=MODES, default=MODES[0])
    said = parser.parse_args()
    print(json.dumps(measure(said.folder, said.steps, said.accelerator, said.mode)))


if __name__ == "__main__":
    main()
