"""The worker of Hugging Face transformers of `benchmarks.generation`: `generate` on torch."""

import platform
from typing import Any

import torch
import transformers

from benchmarks.workers.generation_sizes import GenerationSize


def _gpt2(size: GenerationSize) -> Any:
    config = transformers.GPT2Config(
        vocab_size=size.vocabulary,
        n_positions=size.positions,
        n_embd=size.width,
        n_layer=size.layers,
        n_head=size.heads,
        n_inner=size.feed_forward,
    )
    return transformers.GPT2LMHeadModel(config)


def _t5(size: GenerationSize) -> Any:
    config = transformers.T5Config(
        vocab_size=size.vocabulary,
        d_model=size.width,
        d_kv=size.width // size.heads,
        d_ff=size.feed_forward,
        num_layers=size.layers,
        num_heads=size.heads,
        decoder_start_token_id=0,
    )
    return transformers.T5ForConditionalGeneration(config)


def _bart(size: GenerationSize) -> Any:
    both = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (
            ("layers", size.layers),
            ("ffn_dim", size.feed_forward),
            ("attention_heads", size.heads),
        )
    }
    config = transformers.BartConfig(
        vocab_size=size.vocabulary,
        max_position_embeddings=size.positions,
        d_model=size.width,
        forced_eos_token_id=None,
        **both,
    )
    return transformers.BartForConditionalGeneration(config)


MODELS = {"gpt2": _gpt2, "t5": _t5, "bart": _bart}


class Model:
    """Writes after prompts; see `benchmarks.workers.generation_work`."""

    def __init__(self, size: GenerationSize, folder: str, dtype: str):
        del folder
        torch.manual_seed(0)
        self._size = size
        self._model = MODELS[size.family](size).eval().to(getattr(torch, dtype))
        self.versions = {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    def write(self, batch: int) -> int:
        """Returns how many tokens it has written."""
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(3, self._size.vocabulary - 1, (batch, self._size.prompt), generator=generator)
        with torch.inference_mode():
            made = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                num_beams=1,
                min_new_tokens=self._size.written,
                max_new_tokens=self._size.written,
                pad_token_id=0,
            )
        # The decoder next to an encoder begins with one token of its own.
        given = 1 if self._size.has_encoder else ids.shape[1]
        return (made.shape[1] - given) * batch
