"""The report about a mixture, measured on the documents that are packed."""

from collections.abc import Mapping, Sequence
from typing import Any

from firth.corpus.documents.errors import MixtureError
from firth.corpus.packing.mixture_plan import Cut, Share
from firth.recipes.corpus.mixture import Mixed


def build_mixture_report(
    measured: Mapping[tuple[str, str], int], cuts: Sequence[tuple[Share, Cut]], mixture: Mixed
) -> dict[str, Any]:
    """Returns the report about a mixture as a JSON object."""
    total = sum(amount for (_, unit), amount in measured.items() if unit == mixture.unit)
    return {
        "mixture": mixture.model_dump(mode="json"),
        "total": total,
        "sources": [_row(share, cut, measured, total, mixture) for share, cut in cuts],
    }


def _row(
    share: Share, cut: Cut, measured: Mapping[tuple[str, str], int], total: int, mixture: Mixed
) -> dict[str, Any]:
    taken = {unit: measured.get((share.source, unit), 0) for unit in ("documents", "bytes", "tokens")}
    amount = taken[mixture.unit]
    proportion = amount / max(total, 1)
    deviation = abs(proportion - share.planned) / share.planned if share.planned else float(amount > 0)
    is_within = deviation <= mixture.tolerance
    return {
        "source": share.source,
        "available": share.available,
        "asked": share.asked,
        "planned": share.planned,
        "measured": proportion,
        "repeats": amount / max(share.available, 1),
        "exhausted": share.exhausted,
        **taken,
        "deviation": deviation,
        "within_tolerance": is_within,
        "too_coarse": not is_within and abs(amount - share.amount) <= cut.largest,
    }


def check_mixture(report: Mapping[str, Any]) -> None:
    """Checks that the measured proportions are those planned."""
    for row in report["sources"]:
        if not row["within_tolerance"] and not row["too_coarse"]:
            raise MixtureError(
                f"mixture: source {row['source']!r} is {row['measured']:.4f} of the train split, planned was "
                f"{row['planned']:.4f}, which deviates by more than {report['mixture']['tolerance']:g}"
            )
