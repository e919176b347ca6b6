"""The declaration of ServingValidator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import ServingReport
from firth.components.declaration import Component, declare
from firth.components.serving_validator.executor import Executor


class ServingValidator(Component, executor=Executor):
    """Loads an exported model as TF Serving does and asks it normal, empty, huge and undecodable requests.

    It takes the place of TFX's InfraValidator on machines without containers: its blessing is of the same
    type, and Pusher reads it as `infra_blessing`.

    Args:
        model: Model of the Trainer, exported by `firth.serving.export`.
        examples: Output of SequenceGen; rows of its eval split are requests to the signature `evaluate`.
            Without it, the model's warm-up rows are used.
        eval_rows: Number of rows in these requests.

    Outputs:
        report: `serving_report.json`, see `firth.serving.validate_serving`.
        blessing: Custom property `blessed`, 1 or 0.
    """

    SPEC_CLASS = declare(
        inputs={"model": standard_artifacts.Model},
        optional_inputs={"examples": standard_artifacts.Examples},
        outputs={"report": ServingReport, "blessing": standard_artifacts.InfraBlessing},
        parameters={"eval_rows": int},
    )

    def __init__(
        self, model: types.BaseChannel, examples: types.BaseChannel | None = None, eval_rows: int = 8
    ) -> None:
        super().__init__(
            model=model,
            examples=examples,
            eval_rows=eval_rows,
        )
