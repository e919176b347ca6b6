"""The declaration of TokenizerGen."""

import json
from collections.abc import Sequence

from tfx import types
from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from firth.components.artifacts import Tokenizer
from firth.components.tokenizer_gen.executor import Executor
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig


class TokenizerGenSpec(ComponentSpec):
    """Inputs, outputs and parameters of TokenizerGen."""

    PARAMETERS = {  # noqa: RUF012
        "config": ExecutionParameter(type=str),
        "normalization": ExecutionParameter(type=str),
    }
    INPUTS = {"examples": ChannelParameter(type=standard_artifacts.Examples)}  # noqa: RUF012
    OUTPUTS = {"tokenizer": ChannelParameter(type=Tokenizer)}  # noqa: RUF012


class TokenizerGen(base_beam_component.BaseBeamComponent):
    """Trains a tokenizer on the words of the train split.

    Args:
        examples: Output of Curator.
        tokenizer: Tokenizer of the recipe.
        normalization: Steps of Curator on text that the tokenizer repeats;
            `firth.recipes.Cleaning.text_steps`.

    Outputs:
        tokenizer: As `firth.tokenizers.save_tokenizer` writes it. Custom property: `digest`.
    """

    SPEC_CLASS = TokenizerGenSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self,
        examples: types.BaseChannel,
        tokenizer: AnyTokenizerConfig,
        normalization: Sequence[Sequence[str]] = (),
    ) -> None:
        spec = TokenizerGenSpec(
            examples=examples,
            config=tokenizer.to_json(),
            normalization=json.dumps(normalization),
            tokenizer=types.Channel(type=Tokenizer),
        )
        super().__init__(spec=spec)
