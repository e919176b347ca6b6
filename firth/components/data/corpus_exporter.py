"""The component CorpusExporter."""

import datetime
import json
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tfx import types
from tfx.dsl.components.base import base_beam_executor, executor_spec
from tfx.types import artifact_utils, standard_artifacts
from tfx.utils import io_utils

from firth import storage
from firth.components.artifact_folders import split_folders
from firth.components.artifacts import CorpusReport, ExportedCorpus
from firth.components.declaration import Artifacts, BeamComponent, Properties, declare, only_artifact
from firth.corpus import write_outputs
from firth.corpus.curation.curate import REPORT_FILE
from firth.corpus.documents.hashing import digest
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.report.datasheet import datasheet_page, make_datasheet
from firth.recipes import Recipe
from firth.recipes.base.file_names import without_folders
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.outputs import AnyOutput, outputs_from_json, outputs_to_json
from firth.recipes.corpus.sources_json import sources_from_json, sources_to_json


class Executor(base_beam_executor.BaseBeamExecutor):
    """Exports one corpus."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes a folder for each format, `outputs.json`, and the datasheet.

        Raises:
            firth.corpus.CountMismatchError: if the documents are not those that the report counts.
        """
        cleaning = Cleaning.from_json(exec_properties["cleaning"])
        folders = split_folders(only_artifact(input_dict, "documents"))
        folder = artifact_utils.get_single_uri(output_dict["corpus"])
        path = os.path.join(only_artifact(input_dict, "report").uri, REPORT_FILE)
        report = storage.read_json(path)
        counts: Counter[str] = Counter()
        for row in report["splits"]:
            counts[row["split"]] += row["documents"]
        write_outputs(
            self._make_beam_pipeline,
            {split: io_utils.all_files_pattern(each) for split, each in folders.items()},
            outputs_from_json(exec_properties["outputs"]),
            folder,
            counts,
            any(source.keeps_metadata for source in sources_from_json(exec_properties["sources"]))
            or any(step.adds_metadata for step in cleaning.steps),
        )
        files = [
            {"kind": each.kind, "split": split, "path": f"{each.kind}/{split}/*{each.file_ending}"}
            for each in outputs_from_json(exec_properties["outputs"])
            for split in folders
        ]
        _write_datasheet(folder, report, exec_properties, files)


def _write_datasheet(
    folder: str, report: dict[str, Any], exec_properties: Properties, files: list[dict[str, str]]
) -> None:
    sources = sources_from_json(exec_properties["sources"])
    cleaning = Cleaning.from_json(exec_properties["cleaning"])
    recipe = [without_folders(part) for part in (*sources, cleaning)]
    sheet = make_datasheet(
        exec_properties["name"],
        sources,
        exec_properties["fingerprint"],
        digest(json.dumps(recipe, sort_keys=True)).hex(),
        datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        report,
        scrubber_for(cleaning),
        files,
    )
    storage.write_json(os.path.join(folder, "datasheet.json"), sheet)
    storage.write_text(os.path.join(folder, "README.md"), datasheet_page(sheet))


class CorpusExporter(BeamComponent):
    """Writes the documents of all splits in the formats of the recipe.

    Args:
        examples: Output of Curator.
        report: Output of Curator.
        outputs: The formats.
        recipe: Recipe with the newest spans of its sources, of which the datasheet names the sources and a
            digest.
        fingerprint: Digest of the files of the sources.

    Outputs:
        corpus: A folder for each format, see `firth.corpus.write_outputs`; `outputs.json`; and a datasheet,
            `datasheet.json` and `README.md`.
    """

    SPEC_CLASS = declare(
        inputs={"documents": standard_artifacts.Examples, "report": CorpusReport},
        outputs={"corpus": ExportedCorpus},
        parameters={"outputs": str, "name": str, "sources": str, "cleaning": str, "fingerprint": str},
    )
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self,
        examples: types.BaseChannel,
        report: types.BaseChannel,
        outputs: Sequence[AnyOutput],
        recipe: Recipe,
        fingerprint: str,
    ) -> None:
        super().__init__(
            documents=examples,
            report=report,
            outputs=outputs_to_json(outputs),
            name=recipe.name,
            sources=sources_to_json(recipe.sources),
            cleaning=recipe.cleaning.without_limits().to_json(),
            fingerprint=fingerprint,
        )
