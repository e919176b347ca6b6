"""The component CorpusReporter."""

import os

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils

from firth import storage
from firth.components.artifacts import CorpusPage, CorpusReport
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.recipes.corpus.cleaning import Cleaning
from firth.reports import CorpusView, read_corpus_report, render_corpus_report

PAGE_FILE = "corpus_report.html"


class Executor(base_executor.BaseExecutor):
    """Writes one page."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `corpus_report.html`."""
        cleaning = Cleaning.from_json(exec_properties["cleaning"])
        report, steps = read_corpus_report(only_artifact(input_dict, "report").uri)
        corpus = CorpusView(report or {}, steps, cleaning.limits)
        page = render_corpus_report(exec_properties["name"], cleaning, corpus)
        path = os.path.join(artifact_utils.get_single_uri(output_dict["page"]), PAGE_FILE)
        storage.write_text(path, page)


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
