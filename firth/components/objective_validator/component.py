"""The declaration of ObjectiveValidator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import ObjectiveRates
from firth.components.declaration import Component, declare
from firth.components.objective_validator.executor import Executor
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.tokenizers.tokenizer import Sequences


class ObjectiveValidator(Component, executor=Executor):
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

    SPEC_CLASS = declare(
        inputs={"examples": standard_artifacts.Examples},
        outputs={"rates": ObjectiveRates},
        parameters={"objective": str, "sequences": str, "seed": int, "rows": int},
    )

    def __init__(
        self,
        examples: types.BaseChannel,
        objective: Objective,
        sequences: Sequences,
        seed: int,
        rows: int = 2000,
    ) -> None:
        super().__init__(
            examples=examples,
            objective=objective.to_json(),
            sequences=sequences.to_json(),
            seed=seed,
            rows=rows,
        )
