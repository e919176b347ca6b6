"""A step of plain descent."""

import copy
from collections.abc import Callable

import torch

from transformers_families.family import Tensors

# The rate of the step of tasks.
RATE = 0.01


def descend(model: torch.nn.Module) -> None:
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter -= RATE * parameter.grad


def fine_tuned(name: str) -> Callable:
    """Returns a function that runs a task's model before and after a step of plain gradient descent."""

    def run(model, inputs: Tensors) -> Tensors:
        trained = copy.deepcopy(model)
        answers = model(**inputs)
        with torch.enable_grad():
            trained(**inputs).loss.backward()
        descend(trained)
        after = trained(**inputs).loss
        return {"logits": answers.logits, f"loss/{name}": answers.loss, "loss/after": after}

    return run
