"""The declaration of CorpusReporter."""

from tfx import types

from firth.components.artifacts import CorpusPage, CorpusReport
from firth.components.corpus_reporter.executor import Executor
from firth.components.declaration import Component, declare
from firth.recipes.corpus.cleaning import Cleaning


class CorpusReporter(Component, executor=Executor):
    """Writes one self-contained HTML page on the cleaning of the documents.

    It comes before CorpusValidator, so that the page is there if the validator stops the pipeline.

    Args:
        report: Output of Curator.
        name: Name of the recipe.
        cleaning: Cleaning of the recipe, limits included.

    Outputs:
        page: `corpus_report.html`.
    """

    SPEC_CLASS = declare(
        inputs={"report": CorpusReport},
        outputs={"page": CorpusPage},
        parameters={"name": str, "cleaning": str},
    )

    def __init__(self, report: types.BaseChannel, name: str, cleaning: Cleaning) -> None:
        super().__init__(report=report, name=name, cleaning=cleaning.to_json())
