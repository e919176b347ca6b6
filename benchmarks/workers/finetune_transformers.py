"""The worker of Hugging Face transformers of `benchmarks.finetune`: batches sorted by length."""

import itertools
import pathlib
import platform

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
        is_of_tokens = len(given["labels"]) == len(given["ids"])
        config = transformers.BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=size.width,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            intermediate_size=4 * size.width,
            num_labels=int(given["classes"]),
        )
        kinds = transformers.BertForSequenceClassification, transformers.BertForTokenClassification
        super().__init__(kinds[is_of_tokens](config), size.precision)
        self._batches = itertools.cycle(_batches(given, is_of_tokens, size.examples))
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


def _batches(given: dict[str, np.ndarray], is_of_tokens: bool, size: int) -> list[tuple[dict, int]]:
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
        }
        # Without padding nobody gives a mask, and attention is faster.
        if not real.all():
            batch["attention_mask"] = torch.tensor(real.astype("int64"))
        if is_of_tokens:
            batch["labels"] = _padded([given["labels"][place] for place in places], real, IGNORED)
        else:
            batch["labels"] = torch.tensor(given["labels"][members].astype("int64"))
        made.append((batch, int(real.sum())))
    return [made[index] for index in np.random.default_rng(0).permutation(len(made))]


def _padded(values: list[np.ndarray], real: np.ndarray, padding: int) -> torch.Tensor:
    filled = np.full(real.shape, padding, "int64")
    filled[real] = np.concatenate(values)
    return torch.tensor(filled)
