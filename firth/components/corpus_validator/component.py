"""The declaration of CorpusValidator."""

from tfx import types

from firth.components.artifacts import CorpusReport, MeasuredLimits
from firth.components.corpus_validator.executor import Executor
from firth.components.declaration import Component, declare
from firth.recipes.corpus.limits import CorpusLimits
from firth.recipes.run.validation import CorpusValidation


class CorpusValidator(Component, executor=Executor):
    """Checks a corpus report against limits, and against the report of an earlier run.

    It fails if a limit is broken, so that a component after it (`tokenizer.add_upstream_node(validator)`)
    does not start. Curator's report stays.

    Args:
        report: Output of Curator.
        limits: Limits of the recipe.
        validation: How far shares may move from those of an earlier run; by default, any way.
        **channels: `previous_report`, of an earlier run; and `taken_report`, the same as `report` if an
            earlier run has taken this corpus under `on_anomaly: report`. Either may be left out.

    Outputs:
        measured: `measured_limits.json`, see `firth.corpus.measure_limits`, and `shares.json`, see
            `firth.corpus.report.shares.measure_changes`.
    """

    SPEC_CLASS = declare(
        inputs={"report": CorpusReport},
        optional_inputs={"previous_report": CorpusReport, "taken_report": CorpusReport},
        outputs={"measured": MeasuredLimits},
        parameters={"limits": str, "validation": str},
    )

    def __init__(
        self,
        report: types.BaseChannel,
        limits: CorpusLimits,
        validation: CorpusValidation | None = None,
        **channels: types.BaseChannel,
    ) -> None:
        shares = (validation or CorpusValidation()).of_corpus
        super().__init__(report=report, limits=limits.to_json(), validation=shares.to_json(), **channels)
