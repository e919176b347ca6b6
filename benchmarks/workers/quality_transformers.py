"""A plain training loop of Hugging Face's model on torch: a process of `benchmarks.quality`.

python -m benchmarks.workers.quality_transformers SETTINGS.json

It prints JSON: `seconds` of the loop, which the held-out loss at its end is not a part of, and that loss.
"""

import dataclasses
import json
import pathlib
import platform
import sys

import numpy as np
import torch
import transformers

from benchmarks.workers.batches import IGNORED, MASK_RATE
from benchmarks.workers.clocks import CLOCKS
from benchmarks.workers.families import FAMILIES, Size
from benchmarks.workers.transformers_worker import MAKERS

FAMILY = {"masked": "bert", "causal": "gpt2"}
WARM_UP = 0.1
HELD_OUT_BATCH, PAD = 32, 0


class Batches:
    """Blocks in an order of the seed's, anew each epoch, as the library's collators make them.

    Args:
        settings: Settings of the process.
        arrays: Arrays of `quality_blocks`.
    """

    def __init__(self, settings: dict, arrays):
        self._settings, self._special = settings, json.loads(str(arrays["special"]))
        blocks = torch.tensor(arrays["blocks"]).long()
        first = torch.full((len(blocks), 1), self._special["cls"])
        ends = [torch.full((len(blocks), 1), self._special["sep"])] if settings["work"] == "masked" else []
        self._blocks = torch.cat([first, blocks, *ends], 1)
        self._generator = torch.Generator().manual_seed(settings["seed"])

    def __iter__(self):
        size = self._settings["batch"]
        while True:
            order = torch.randperm(len(self._blocks), generator=self._generator)
            for start in range(0, len(order) - size + 1, size):
                ids = self._blocks[order[start : start + size]]
                yield self._masked(ids) if self._settings["work"] == "masked" else (ids, ids)

    def _masked(self, ids):
        draws = torch.rand(ids.shape, generator=self._generator)
        kinds = torch.rand(ids.shape, generator=self._generator)
        inner = torch.ones_like(ids, dtype=torch.bool)
        inner[:, [0, -1]] = False
        chosen = (draws < MASK_RATE) & inner
        other = torch.randint(0, self._settings["vocabulary"], ids.shape, generator=self._generator)
        given = torch.where(chosen & (kinds < 0.8), self._special["mask"], ids)
        given = torch.where(chosen & (kinds >= 0.9), other, given)
        return given, torch.where(chosen, ids, IGNORED)


def held_out_loss(model, arrays) -> float:
    """Returns the mean loss of a held-out prediction, in nats."""
    model.eval()
    total = count = 0.0
    ids, labels = (torch.tensor(arrays[f"held_out_{name}"]).long() for name in ("ids", "labels"))
    with torch.inference_mode():
        for start in range(0, len(ids), HELD_OUT_BATCH):
            here = slice(start, start + HELD_OUT_BATCH)
            given = {"input_ids": ids[here], "attention_mask": (ids[here] != PAD).long()}
            logits = model(**given).logits.flatten(0, 1)
            flat = labels[here].flatten()
            total += torch.nn.functional.cross_entropy(
                logits, flat, ignore_index=IGNORED, reduction="sum"
            ).item()
            count += (flat != IGNORED).sum().item()
    return total / count


def main() -> None:
    """Trains, measures and prints."""
    settings = json.loads(pathlib.Path(sys.argv[1]).read_text())
    torch.manual_seed(settings["seed"])
    torch.set_num_threads(settings["threads"])
    name, steps = FAMILY[settings["work"]], settings["steps"]
    family = dataclasses.replace(
        FAMILIES[name], vocabulary=settings["vocabulary"], dropout=settings["dropout"]
    )
    with np.load(settings["arrays"]) as loaded:
        arrays = dict(loaded)
    clock = CLOCKS[settings["clock"]]
    started = clock()
    model = MAKERS[name](family, Size(**settings["size"]))
    decayed = [each for each in model.parameters() if each.ndim > 1]
    plain = [each for each in model.parameters() if each.ndim < 2]
    groups = [{"params": decayed}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=settings["rate"], weight_decay=0.01, fused=True)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, int(WARM_UP * steps), steps)
    model.train()
    for _, (ids, labels) in zip(range(steps), Batches(settings, arrays), strict=False):
        with torch.autocast("cpu", torch.bfloat16, enabled=settings["bfloat16"]):
            loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    seconds = clock() - started
    print(
        json.dumps(
            {
                "seconds": seconds,
                "steps": steps,
                "loss": held_out_loss(model, arrays),
                "parameters": sum(each.numel() for each in model.parameters()),
                "versions": f"Python {platform.python_version()}, torch {torch.__version__}, "
                f"transformers {transformers.__version__}",
            }
        )
    )


if __name__ == "__main__":
    main()
