"""The declaration of ServingValidator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import ServingReport
from firth.components.declaration import Component, declare
from firth.components.serving_validator.executor import Executor


class ServingValidator(Component, executor=Executor):
    """Loads an exported model as TF Serving does and asks it normal, empty, huge and undecodable requests.

    It takes the place of TFX's InfraValidator on machines without containers: its blessing is of the same
    type, and Pusher reads it as `infra_blessing`. Where there is an InfraValidator too, a model has to pass
    both.

    Args:
        model: Model of the Trainer, exported by `firth.serving.export`.
        examples: Output of SequenceGen; rows of its eval split are requests to the signature `evaluate`.
            Without it, the model's warm-up rows are used.
        infra_blessing: Output of TFX's InfraValidator, if it tries the model in a container.
        records: Output of LabelledExampleGen, of which `examples` were made. The headline score of the task
            is computed from the answers of its own signature to records of the eval split; a model that
            answers them otherwise than their rows are scored is not blessed.
        eval_rows: Number of rows in these requests.

    Outputs:
        report: `serving_report.json`, see `firth.serving.validate_serving`; `held_out` in it is what
            `firth.serving.tasks.served_score` returns.
        blessing: Custom property `blessed`, 1 or 0.
    """

    SPEC_CLASS = declare(
        inputs={"model": standard_artifacts.Model},
        optional_inputs={
            "examples": standard_artifacts.Examples,
            "infra_blessing": standard_artifacts.InfraBlessing,
            "records": standard_artifacts.Examples,
        },
        outputs={"report": ServingReport, "blessing": standard_artifacts.InfraBlessing},
        parameters={"eval_rows": int},
    )

    def __init__(
        self,
        model: types.BaseChannel,
        examples: types.BaseChannel | None = None,
        eval_rows: int = 8,
        infra_blessing: types.BaseChannel | None = None,
        records: types.BaseChannel | None = None,
    ) -> None:
        super().__init__(
            model=model,
            examples=examples,
            infra_blessing=infra_blessing,
            records=records,
            eval_rows=eval_rows,
        )
