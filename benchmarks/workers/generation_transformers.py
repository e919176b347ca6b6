"""The worker of Hugging Face transformers of `benchmarks.generation`: `generate` on torch."""

import platform

import torch
import transformers

from benchmarks.workers.generation_sizes import GenerationSize


class Model:
    """Writes after prompts; see `benchmarks.workers.generation_work`."""

    def __init__(self, size: GenerationSize, folder: str, dtype: str):
        del folder
        torch.manual_seed(0)
        config = transformers.GPT2Config(
            vocab_size=size.vocabulary,
            n_positions=size.positions,
            n_embd=size.width,
            n_layer=size.layers,
            n_head=size.heads,
        )
        self._size = size
        self._model = transformers.GPT2LMHeadModel(config).eval().to(getattr(torch, dtype))
        self.versions = {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    def write(self, batch: int) -> int:
        """Returns how many tokens it has written."""
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(0, self._size.vocabulary - 1, (batch, self._size.prompt), generator=generator)
        with torch.inference_mode():
            made = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                min_new_tokens=self._size.written,
                max_new_tokens=self._size.written,
                pad_token_id=0,
            )
        return (made.shape[1] - ids.shape[1]) * batch
