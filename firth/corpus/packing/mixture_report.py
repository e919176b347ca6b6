"""What became of a mixture, measured on what is packed."""

from collections.abc import Mapping, Sequence
from typing import Any

from firth.corpus.documents.errors import MixtureError
from firth.corpus.packing.mixture_plan import AnyMixed, Cut, Share


def build_mixture_report(
    measured: Mapping[tuple[str, str], int], cuts: Sequence[tuple[Share, Cut]], mixture: AnyMixed
) -> dict[str, Any]:
    """Returns the mixture as a JSON object.

    Its keys:
        mixture: What the recipe says.
        total: How much was taken, in the mixture's unit, repeats counted.
        sources: One object a source: `source`; what it has, `available`; its proportions, `asked` by the
            recipe, `planned` of what can be had, and `measured`, both of the mixture's unit; `repeats`, how
            often its documents stand in it on the average; whether it is `exhausted`, so that it is not what
            was asked for, or no more could be had; `documents`, `bytes` and `tokens` taken, repeats counted;
            `deviation`, of the measured proportion from the planned, by the planned; and whether that is
            `within_tolerance`, or `too_coarse`: more than the tolerance, though not by more than one
            document.

    Args:
        measured: How much was taken, by (source, unit).
        cuts: Of the plan.
        mixture: Of the recipe.
    """
    total = sum(amount for (_, unit), amount in measured.items() if unit == mixture.unit)
    return {
        "mixture": mixture.model_dump(mode="json"),
        "total": total,
        "sources": [_row(share, cut, measured, total, mixture) for share, cut in cuts],
    }


def _row(
    share: Share, cut: Cut, measured: Mapping[tuple[str, str], int], total: int, mixture: AnyMixed
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
    """Checks the measured proportions.

    Raises:
        MixtureError: naming the source that deviates by more than the tolerance and by more than a document.
    """
    for row in report["sources"]:
        if not row["within_tolerance"] and not row["too_coarse"]:
            raise MixtureError(
                f"mixture: source {row['source']!r} is {row['measured']:.4f} of the train split, planned was "
                f"{row['planned']:.4f}, which deviates by more than {report['mixture']['tolerance']:g}"
            )
