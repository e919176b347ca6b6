"""The component ObjectiveValidator."""

import os

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.utils import io_utils

from firth import storage
from firth.components.artifact_folders import keeping
from firth.components.artifacts import ObjectiveRates
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.recipes.objectives.objective import objective_from_json
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import load_tokenizer
from firth.training.objective_rates import ObjectiveRatesError, check_report, measure_objective

RATES_FILE = "objective_rates.json"
TRAIN_SPLIT = "train"
TOKENIZER_FOLDER = "tokenizer"


class Executor(base_executor.BaseExecutor):
    """Validates one objective."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `objective_rates.json`.

        Raises:
            firth.training.objective_rates.ObjectiveRatesError: if a rate is out of its bounds.
            firth.training.RowsError: for missing or malformed rows.
        """
        examples = only_artifact(input_dict, "examples")
        pattern = io_utils.all_files_pattern(artifact_utils.get_split_uri([examples], TRAIN_SPLIT))
        report = measure_objective(
            objective_from_json(exec_properties["objective"]),
            Sequences.from_json(exec_properties["sequences"]),
            load_tokenizer(os.path.join(examples.uri, TOKENIZER_FOLDER)),
            [pattern],
            exec_properties["seed"],
            exec_properties["rows"],
        )
        folder = artifact_utils.get_single_uri(output_dict["rates"])
        storage.write_json(os.path.join(folder, RATES_FILE), report)
        with keeping(folder, RATES_FILE, errors=ObjectiveRatesError):
            check_report(report)


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
