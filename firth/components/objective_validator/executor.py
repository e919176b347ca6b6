"""The work of ObjectiveValidator: measures and writes the rates, and fails if one is out of its bounds."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth import storage
from firth.components.execution import Artifacts, Properties, only_artifact
from firth.components.kept_files import keeping
from firth.recipes.objectives.objective import objective_from_json
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
