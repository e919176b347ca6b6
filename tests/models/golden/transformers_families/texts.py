"""Models that write texts."""

from collections.abc import Callable

import numpy as np
import torch
import transformers

from transformers_families.encoder_decoders import BART, T5
from transformers_families.family import IGNORED, LENGTHS, TARGET_LENGTHS, VOCABULARY, Arrays, Family, Tensors
from transformers_families.fine_tuning import fine_tuned

# Most tokens of what is written.
WRITTEN = 9


def text_inputs(generator: np.random.Generator, pad: int, begin: tuple[int, ...], end: int) -> Arrays:
    """Returns texts and the texts to write, all of which begin and end as the family's do."""

    def texts(lengths: tuple[int, ...], fill: int) -> np.ndarray:
        made = np.full((len(lengths), max(lengths)), fill)
        for row, length in enumerate(lengths):
            own = generator.integers(3, VOCABULARY, length - len(begin) - 1)
            made[row, :length] = [*begin, *own, end]
        return made

    ids = texts(LENGTHS, pad)
    real = np.arange(ids.shape[1]) < np.array(LENGTHS)[:, None]
    return {
        "input_ids": ids,
        "attention_mask": real.astype("int64"),
        "labels": texts(TARGET_LENGTHS, IGNORED),
    }


def writing(start: tuple[int, ...]) -> Callable:
    """Returns a function that runs a model that writes texts, and writes greedily after a start."""

    def run(model, inputs: Tensors) -> Tensors:
        given = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        begun = torch.tensor([start] * len(inputs["input_ids"]))
        written = model.generate(
            **given, decoder_input_ids=begun, max_new_tokens=WRITTEN, do_sample=False, num_beams=1
        )
        return {**fine_tuned("lm")(model, inputs), "written": written[:, len(start) :]}

    return run


FAMILIES = {
    "t5_texts": Family(
        transformers.T5ForConditionalGeneration,
        transformers.T5Config,
        T5,
        lambda generator: text_inputs(generator, pad=0, begin=(), end=1),
        writing((0,)),
    ),
    "bart_texts": Family(
        transformers.BartForConditionalGeneration,
        transformers.BartConfig,
        {**BART, "forced_eos_token_id": None},
        lambda generator: text_inputs(generator, pad=1, begin=(0,), end=2),
        writing((2, 0)),
    ),
}
