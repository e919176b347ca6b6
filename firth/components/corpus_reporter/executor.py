"""The work of CorpusReporter: hands the report to `firth.analysis` and writes its page."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils

from firth import storage
from firth.analysis import CorpusView, read_corpus_report, render_corpus_report
from firth.components.execution import Artifacts, Properties, only_artifact
from firth.recipes.corpus.cleaning import Cleaning

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
