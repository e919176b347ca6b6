"""The declaration of CorpusValidator."""

from tfx import types

from firth.components.artifacts import CorpusReport, MeasuredLimits
from firth.components.corpus_validator.executor import Executor
from firth.components.declaration import Component, declare
from firth.recipes.corpus.limits import CorpusLimits


class CorpusValidator(Component, executor=Executor):
    """Checks a corpus report against limits.

    It fails if a limit is broken, so that a component after it (`tokenizer.add_upstream_node(validator)`)
    does not start. Curator's report stays.

    Args:
        report: Output of Curator.
        limits: Limits of the recipe.

    Outputs:
        measured: `measured_limits.json`, see `firth.corpus.measure_limits`.
    """

    SPEC_CLASS = declare(
        inputs={"report": CorpusReport}, outputs={"measured": MeasuredLimits}, parameters={"limits": str}
    )

    def __init__(self, report: types.BaseChannel, limits: CorpusLimits) -> None:
        super().__init__(report=report, limits=limits.to_json())
