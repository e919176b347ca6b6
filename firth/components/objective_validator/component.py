"""The declaration of ObjectiveValidator."""

from tfx import types
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from firth.components.artifacts import ObjectiveRates
from firth.components.objective_validator.executor import Executor
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.tokenizers.tokenizer import Sequences


class ObjectiveValidatorSpec(ComponentSpec):
    """Inputs, outputs and parameters of ObjectiveValidator."""

    PARAMETERS = {  # noqa: RUF012
        "objective": ExecutionParameter(type=str),
        "sequences": ExecutionParameter(type=str),
        "seed": ExecutionParameter(type=int),
        "rows": ExecutionParameter(type=int),
    }
    INPUTS = {"examples": ChannelParameter(type=standard_artifacts.Examples)}  # noqa: RUF012
    OUTPUTS = {"rates": ChannelParameter(type=ObjectiveRates)}  # noqa: RUF012


class ObjectiveValidator(base_component.BaseComponent):
    """Applies the objective to rows of the train split as the training does, and measures its rates.

    It fails if a rate is out of the bounds that the recipe sets, so that a Trainer after it
    (`trainer.add_upstream_node(validator)`) does not start.

    Args:
        examples: Output of SequenceGen.
        objective: Objective of the recipe.
        sequences: Rows of the recipe.
        seed: Seed of the recipe.
        rows: Most rows that are measured.

    Outputs:
        rates: `objective_rates.json`, see `firth.training.objective_rates`.
    """

    SPEC_CLASS = ObjectiveValidatorSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        examples: types.BaseChannel,
        objective: Objective,
        sequences: Sequences,
        seed: int,
        rows: int = 2000,
    ) -> None:
        spec = ObjectiveValidatorSpec(
            examples=examples,
            objective=objective.to_json(),
            sequences=sequences.to_json(),
            seed=seed,
            rows=rows,
            rates=types.Channel(type=ObjectiveRates),
        )
        super().__init__(spec=spec)
