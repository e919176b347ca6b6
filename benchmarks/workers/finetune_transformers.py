"""The worker of Hugging Face transformers of `benchmarks.finetune`: batches sorted by length."""

import itertools
import platform
from typing import Any

import torch
import transformers

from benchmarks.workers.finetune_batches import Arrays, read_examples, sorted_batches
from benchmarks.workers.finetune_sizes import VOCABULARY, FineTuneSize
from benchmarks.workers.torch_model import TorchModel


class Model(TorchModel):
    """Steps on the records of a folder; see `benchmarks.workers.finetune_work`."""

    def __init__(self, size: FineTuneSize, folder: str):
        torch.manual_seed(0)
        given = read_examples(folder)
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
        self._batches = itertools.cycle(
            [_inputs(batch, LABELS[head]) for batch in sorted_batches(given, size.examples)]
        )
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


def _labels(labels: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"labels": labels}


def _labels_of_spans(labels: torch.Tensor) -> dict[str, torch.Tensor]:
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
LABELS = {"pooled": _labels, "tokens": _labels, "spans": _labels_of_spans}
CLASSES = {
    "pooled": transformers.BertForSequenceClassification,
    "tokens": transformers.BertForTokenClassification,
    "spans": transformers.BertForQuestionAnswering,
}


def _inputs(batch: Arrays, labels: Any) -> tuple[dict[str, torch.Tensor], int]:
    """Returns a batch as the models read it, and its number of tokens."""
    inputs = {
        "input_ids": torch.tensor(batch["ids"]),
        "token_type_ids": torch.tensor(batch["segments"]),
        **labels(torch.tensor(batch["labels"])),
    }
    # Without padding nobody gives a mask, and attention is faster.
    if not batch["real"].all():
        inputs["attention_mask"] = torch.tensor(batch["real"].astype("int64"))
    return inputs, int(batch["real"].sum())
