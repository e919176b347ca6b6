"""The declaration of TokenizerGen."""

import json
from collections.abc import Sequence

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import Tokenizer
from firth.components.declaration import BeamComponent, declare
from firth.components.tokenizer_gen.executor import Executor
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig


class TokenizerGen(BeamComponent, executor=Executor):
    """Trains a tokenizer on the words of the train split, or takes that of a model bundle.

    Args:
        examples: Output of Curator.
        tokenizer: Tokenizer of the recipe.
        normalization: Steps of Curator on text that the tokenizer repeats;
            `firth.recipes.Cleaning.text_steps`.
        base: Model whose tokenizer is taken: a bundle with the custom property `digest`, or a model of the
            Trainer. Without it, or where the channel is empty, one is trained.
        added_words: Words that become pieces of the bundle's tokenizer.
        added_count: Number of further words of the train split that do.

    Outputs:
        tokenizer: As `firth.tokenizers.save_tokenizer` writes it. Custom property: `digest`.
    """

    SPEC_CLASS = declare(
        inputs={"examples": standard_artifacts.Examples},
        outputs={"tokenizer": Tokenizer},
        optional_inputs={"base": standard_artifacts.Model},
        parameters={"config": str, "normalization": str, "added_words": str, "added_count": int},
    )

    def __init__(
        self,
        examples: types.BaseChannel,
        tokenizer: AnyTokenizerConfig,
        normalization: Sequence[Sequence[str]] = (),
        base: types.BaseChannel | None = None,
        added_words: Sequence[str] = (),
        added_count: int = 0,
    ) -> None:
        super().__init__(
            examples=examples,
            base=base,
            config=tokenizer.to_json(),
            normalization=json.dumps(normalization),
            added_words=json.dumps(added_words),
            added_count=added_count,
        )
