"""The component Curator."""

import os

from tfx import types
from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.types.artifact import Artifact

from firth import storage
from firth.components.artifact_folders import keeping, split_patterns, stamp_splits
from firth.components.artifacts import CorpusReport, QualityClassifier
from firth.components.declaration import Artifacts, BeamComponent, Properties, declare
from firth.corpus import SPLITS, CorpusError, curate, files_digest as digest_of_files
from firth.corpus.curation.curate import REPORT_FILE
from firth.corpus.quality.quality_model import MODEL_FILE
from firth.recipes.corpus.cleaning import Cleaning

RESULTS_FOLDER = "cleaned_files"


class Executor(base_beam_executor.BaseBeamExecutor):
    """Cleans one corpus."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes the splits and `corpus_report.json`.

        Raises:
            firth.corpus.EmptyCorpusError: if nothing is left, or nothing for one of the splits.
        """
        documents = input_dict["documents"]
        patterns = [each for own in split_patterns(documents).values() for each in own]
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        stamp_splits(examples, SPLITS)
        report = artifact_utils.get_single_uri(output_dict["report"])
        with keeping(report, REPORT_FILE, errors=CorpusError):
            curate(
                self._make_beam_pipeline,
                # The report takes counts of reading from one artifact; those of several are not added up.
                corpus_folder=documents[0].uri if len(documents) == 1 else report,
                corpus_patterns=patterns,
                cleaning=Cleaning.from_json(exec_properties["cleaning"]),
                split_folders={name: artifact_utils.get_split_uri([examples], name) for name in SPLITS},
                report_folder=report,
                # Next to the artifacts of all runs, since it is for the next one.
                results_folder=os.path.join(
                    os.path.dirname(os.path.dirname(report.rstrip("/"))), RESULTS_FOLDER
                ),
            )
        for classifiers in output_dict.get("classifiers", []):
            _move_classifiers(artifact_utils.get_single_uri(output_dict["report"]), classifiers)


def _move_classifiers(report_folder: str, artifact: Artifact) -> None:
    """Moves the classifiers that steps trained to an artifact of their own, stamped with their AUC."""
    for path in storage.glob(os.path.join(report_folder, "*", MODEL_FILE)):
        folder = os.path.dirname(path)
        step = os.path.basename(folder)
        storage.copy_folder(folder, os.path.join(artifact.uri, step))
        storage.remove(folder)
        auc = storage.read_json(os.path.join(artifact.uri, step, MODEL_FILE))["auc"]
        artifact.set_float_custom_property(f"{step}_auc", auc)


class Curator(BeamComponent, executor=Executor):
    """Applies the recipe's cleaning steps to documents and splits them into train and eval.

    Args:
        examples: Output of CorpusExampleGen.
        cleaning: Cleaning of the recipe: the steps and the split. Its limits are for CorpusValidator.
        files_digest: Result of `firth.corpus.files_digest(cleaning)`, taken now if it is not given. The
            cached output is used again only while it stays the same.

    Outputs:
        examples: The documents that are left, splits `train` and `eval`.
        report: `corpus_report.json`, see `firth.corpus.report.corpus_report.build_report`, and next to it
            what single steps report.
        classifiers: Models that the steps of kind `classifier` trained, if the cleaning has such steps.

    Raises:
        firth.corpus.CorpusError: without a digest, if a file that a step reads does not exist.
    """

    SPEC_CLASS = declare(
        inputs={"documents": standard_artifacts.Examples},
        outputs={"examples": standard_artifacts.Examples, "report": CorpusReport},
        optional_outputs={"classifiers": QualityClassifier},
        parameters={"cleaning": str, "files_digest": str},
    )

    def __init__(
        self, examples: types.BaseChannel, cleaning: Cleaning, files_digest: str | None = None
    ) -> None:
        trains = any(step.trains_model for step in cleaning.steps)
        super().__init__(
            documents=examples,
            cleaning=cleaning.without_limits().to_json(),
            files_digest=digest_of_files(cleaning) if files_digest is None else files_digest,
            classifiers=types.Channel(type=QualityClassifier) if trains else None,
        )
