"""The reasons why a run's model is not blessed."""

import pathlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from firth import storage
from firth.serving import versions

if TYPE_CHECKING:
    from firth.pipelines.metadata.lineage import Outputs

SERVING_REPORT = "serving_report.json"


def reasons_against(outputs: "Outputs") -> tuple[str, ...]:
    """Returns the reasons why a run's model is not blessed, in words; empty for a blessed model.

    Each metric out of its bounds and each request that the exported model failed is a reason.
    """
    return (*_of_evaluation(outputs.get("Evaluator", {})), *_of_serving(outputs.get("ServingValidator", {})))


def _of_evaluation(made: Mapping[str, pathlib.Path]) -> Iterator[str]:
    if "evaluation" not in made:
        yield "it was not evaluated"
        return
    from firth.evaluation import load_thresholds

    missed = [result.text for result in load_thresholds(str(made["evaluation"])) if not result.ok]
    yield from missed
    if not missed and not storage.exists(made["blessing"] / "BLESSED"):
        yield "the Evaluator did not bless it (see the log)"


def _of_serving(made: Mapping[str, pathlib.Path]) -> Iterator[str]:
    if "report" not in made:
        yield "it was not tried as a server would ask it"
        return
    report = storage.read_json(made["report"] / SERVING_REPORT)
    yield from (f"the serving validation: {reason}" for reason in report["reasons"])


def newest_version(serving_dir: pathlib.Path) -> pathlib.Path | None:
    """Returns the version of a model that a server takes from a folder; None if the folder has no version."""
    version = versions.newest_version(str(serving_dir))
    return None if version is None else serving_dir / version
