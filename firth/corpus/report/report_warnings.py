"""What a reader of a corpus report is warned of before the corpus is trained on."""

from collections.abc import Mapping
from typing import Any


def report_warnings(report: Mapping[str, Any]) -> list[str]:
    """Returns the warnings of a corpus report, a sentence each.

    Example:

    >>> report_warnings({"held_out": {"warning": ""}, "unstated_keys": ["source 'web': ..."]})
    ["source 'web': ..."]
    """
    warning = report.get("held_out", {}).get("warning")
    others = (sentence for key in ("unstated_keys", "undecoded") for sentence in report.get(key, []))
    return [*([warning] if warning else []), *others]
