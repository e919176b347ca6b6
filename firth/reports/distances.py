"""How far the data of a run are from others, in words."""

import os
from collections.abc import Mapping
from typing import Any

from firth import storage
from firth.corpus.report.shares import ShareChange, change_line

_OTHERS = {"drift": "the last run", "skew": "the requests"}


def distance_lines(outputs: Mapping[str, Mapping[str, os.PathLike[str]]]) -> list[str]:
    """Returns how far the data are from those of the last run and from requests.

    There is a line for each feature, and one for the share of each kind that moved furthest.
    """
    lines = [
        distance_line(each) for each in _read(outputs, "DistributionValidator", "distances", "distances")
    ]
    furthest: dict[str, ShareChange] = {}
    for each in _read(outputs, "CorpusValidator", "measured", "shares"):
        furthest.setdefault(each["of"], ShareChange(**each))
    return [*lines, *map(change_line, furthest.values())]


def _read(
    outputs: Mapping[str, Mapping[str, os.PathLike[str]]], component: str, output: str, name: str
) -> list[dict[str, Any]]:
    folder = outputs.get(component, {}).get(output)
    return [] if folder is None else storage.read_json(os.path.join(folder, f"{name}.json")) or []


def distance_line(measured: Mapping[str, Any]) -> str:
    """Returns one distance in words.

    Example:

    >>> about = {"comparison": "drift", "split": "train", "feature": "label", "measure": "infinity_norm"}
    >>> distance_line({**about, "distance": 0.25, "threshold": 0.1})
    'drift of label in train: 0.25 from the last run (infinity norm), more than 0.1'
    """
    comparison, distance, most = measured["comparison"], measured["distance"], measured["threshold"]
    beyond = "more than" if distance > most else "at most"
    return (
        f"{comparison} of {measured['feature']} in {measured['split']}: {distance:.3g} from "
        f"{_OTHERS[comparison]} ({measured['measure'].replace('_', ' ')}), {beyond} {most:g}"
    )
