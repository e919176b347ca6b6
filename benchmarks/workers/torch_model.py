"""Parts that models on torch share: autocast, and a training step with clipping and torch's AdamW."""

import torch


class TorchModel:
    """A torch module whose call returns an object with a `loss`.

    Args:
        module: The module.
        precision: `float32`, or else matmuls run in bfloat16.
    """

    def __init__(self, module: torch.nn.Module, precision: str):
        self._model, self._precision = module, precision
        self._optimizer = None

    def autocast(self):
        """Returns the context that matmuls run in."""
        return torch.autocast("cpu", torch.bfloat16, enabled=self._precision != "float32")

    def training(self, batch) -> None:
        """Forward, backward, clipping and AdamW."""
        if self._optimizer is None:
            weights = self._model.parameters()
            self._optimizer = torch.optim.AdamW(weights, lr=1e-4, weight_decay=0.01, eps=1e-6, fused=True)
        self._model.train()
        with self.autocast():
            loss = self._model(**batch).loss
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()
        loss.item()
