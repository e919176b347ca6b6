"""The declaration of Curator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import CorpusReport, QualityClassifier
from firth.components.curator.executor import Executor
from firth.components.declaration import BeamComponent, declare
from firth.corpus import files_digest as digest_of_files
from firth.recipes.corpus.cleaning import Cleaning


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
