"""The report about a mixture, measured on the documents that are packed."""

from collections.abc import Mapping, Sequence
from typing import Any

from firth.corpus.documents.errors import MixtureError
from firth.corpus.packing.mixture_plan import Cut, Share
from firth.recipes.corpus.mixture import Mixed


def build_mixture_report(
    measured: Mapping[tuple[str, str], int], cuts: Sequence[tuple[Share, Cut]], mixture: Mixed
) -> dict[str, Any]:
    """Returns the report about a mixture as a JSON object.

    Args:
        measured: Amounts taken, by (source, unit).
        cuts: The plan.
        mixture: The mixture of the recipe.

    Returns:
        `mixture`, as the recipe states it; `total`, the amount taken in the mixture's unit, including
        repeats; and `sources`, one object for each source: `source`, its name; `available`, its size in the
        mixture's unit; its proportion in the mixture as `asked` by the recipe, as `planned` and as
        `measured`; `repeats`, the mean number of copies of its documents; `exhausted`, whether no more could
        be taken; `documents`, `bytes` and `tokens` taken, including repeats; `deviation`, the difference of
        measured and planned proportion, divided by the planned one; whether that is `within_tolerance`; and
        whether it is `too_coarse`, which is a deviation above the tolerance that amounts to at most one
        document.
    """
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
    """Checks that the measured proportions are those planned.

    Args:
        report: The report of `build_mixture_report`.

    Raises:
        MixtureError: if a source deviates by more than the tolerance and by more than one document; the
            message names the source.
    """
    for row in report["sources"]:
        if not row["within_tolerance"] and not row["too_coarse"]:
            raise MixtureError(
                f"mixture: source {row['source']!r} is {row['measured']:.4f} of the train split, planned was "
                f"{row['planned']:.4f}, which deviates by more than {report['mixture']['tolerance']:g}"
            )
