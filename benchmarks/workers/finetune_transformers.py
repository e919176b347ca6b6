"""The worker of Hugging Face transformers of `benchmarks.finetune`: batches sorted by length."""

import itertools
import pathlib
import platform
from typing import Any

import numpy as np
import torch
import transformers

from benchmarks.workers.finetune_sizes import VOCABULARY, FineTuneSize
from benchmarks.workers.torch_model import TorchModel

IGNORED = -100


class Model(TorchModel):
    """Steps on the records of a folder; see `benchmarks.workers.finetune_work`."""

    def __init__(self, size: FineTuneSize, folder: str):
        torch.manual_seed(0)
        with np.load(pathlib.Path(folder, "examples.npz")) as arrays:
            given = dict(arrays)
        head = str(given["head"])
        config = transformers.BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=size.width,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            intermediate_size=4 * size.width,
            num_labels=2 if head == "spans" else int(given["classes"]),
        )
        super().__init__(ADAPTED[size.method](CLASSES[head](config)), size.precision)
        self._batches = itertools.cycle(_batches(given, LABELS[head], size.examples))
        self.versions = {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    def steps(self, count: int) -> dict[str, int]:
        """Forward, backward, clipping and AdamW."""
        examples = tokens = 0
        for batch, real in itertools.islice(self._batches, count):
            self.training(batch)
            examples += len(batch["input_ids"])
            tokens += real
        return {"examples": examples, "tokens": tokens}


def _labels_of_records(given, members, places, real) -> dict[str, torch.Tensor]:
    return {"labels": torch.tensor(given["labels"][members].astype("int64"))}


def _labels_of_tokens(given, members, places, real) -> dict[str, torch.Tensor]:
    return {"labels": _padded([given["labels"][place] for place in places], real, IGNORED)}


def _labels_of_spans(given, members, places, real) -> dict[str, torch.Tensor]:
    labels = torch.tensor(given["labels"].reshape(-1, 2)[members].astype("int64"))
    return {"start_positions": labels[:, 0], "end_positions": labels[:, 1]}


def _with_lora(module: transformers.PreTrainedModel) -> torch.nn.Module:
    """Returns the module with peft's LoRA at the paper's places, and its head trained."""
    import peft

    heads = [name for name, _ in module.named_children() if name in HEADS]
    config = peft.LoraConfig(r=8, lora_alpha=16, target_modules=["query", "value"], modules_to_save=heads)
    return peft.get_peft_model(module, config)


HEADS = ("classifier", "qa_outputs")
# By our name of the method.
ADAPTED = {"full": lambda module: module, "lora": _with_lora}
# By our name of the head.
LABELS = {"pooled": _labels_of_records, "tokens": _labels_of_tokens, "spans": _labels_of_spans}
CLASSES = {
    "pooled": transformers.BertForSequenceClassification,
    "tokens": transformers.BertForTokenClassification,
    "spans": transformers.BertForQuestionAnswering,
}


def _batches(given: dict[str, np.ndarray], labels: Any, size: int) -> list[tuple[dict, int]]:
    """Returns batches of examples of like lengths in a random order, each with its number of tokens."""
    lengths = given["lengths"]
    ends = np.cumsum(lengths)
    order = np.argsort(-lengths, kind="stable")
    made = []
    for start in range(0, len(order), size):
        members = order[start : start + size]
        places = [slice(ends[member] - lengths[member], ends[member]) for member in members]
        real = np.arange(lengths[members].max()) < lengths[members][:, None]
        batch = {
            "input_ids": _padded([given["ids"][place] for place in places], real, 0),
            "token_type_ids": _padded([given["segments"][place] for place in places], real, 0),
            **labels(given, members, places, real),
        }
        # Without padding nobody gives a mask, and attention is faster.
        if not real.all():
            batch["attention_mask"] = torch.tensor(real.astype("int64"))
        made.append((batch, int(real.sum())))
    return [made[index] for index in np.random.default_rng(0).permutation(len(made))]


def _padded(values: list[np.ndarray], real: np.ndarray, padding: int) -> torch.Tensor:
    filled = np.full(real.shape, padding, "int64")
    filled[real] = np.concatenate(values)
    return torch.tensor(filled)
