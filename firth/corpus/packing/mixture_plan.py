"""The plan of a mixture: the amount that is taken of each source."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from firth.corpus.documents.errors import MixtureError
from firth.recipes.corpus.mixture import Mixed


class Share(NamedTuple):
    """The share of a source in a mixture.

    Attributes:
        source: Name of the source.
        available: Size of the source in the mixture's unit.
        asked: Proportion that the recipe asks for.
        planned: Proportion that the sources allow.
        amount: Amount to take in the mixture's unit, including repeats.
        exhausted: True if the source is empty, or its amount is the largest that its repeats allow.
    """

    source: str
    available: int
    asked: float
    planned: float
    amount: int
    exhausted: bool


class Cut(NamedTuple):
    """The number of copies of a source's documents in a mixture.

    Attributes:
        full: Number of copies that every document has.
        limit: Limit of hashes below which a document has one more copy.
        largest: Size of the source's largest document in the mixture's unit.
    """

    full: int
    limit: int
    largest: int


def plan_mixture(mixture: Mixed, available: Mapping[str, int], sources: Sequence[str]) -> list[Share]:
    """Returns the share of each source, in the order of `sources`; others follow in alphabetical order.

    Example:

    >>> from firth.recipes.corpus.mixture import WeightedMixture
    >>> mixture = WeightedMixture(kind="weights", weights={"web": 1.0, "books": 1.0})
    >>> [(share.source, share.amount) for share in plan_mixture(mixture, {"web": 900, "books": 300}, ["web"])]
    [('web', 900), ('books', 900)]
    """
    names = list(dict.fromkeys([*sources, *sorted(available)]))
    sizes = {name: available.get(name, 0) for name in names}
    # Without the recipe's sources, one that has nothing left may have been named.
    checked = mixture if sources else mixture.model_copy(update={"max_repeats_of": {}})
    for line in checked.conflicts(names):
        raise MixtureError(line)
    asked = _asked(mixture, sizes)
    repeats = {name: mixture.max_repeats_of.get(name, mixture.max_repeats) for name in names}
    most = {name: max(min(size, 1), int(repeats[name] * size)) for name, size in sizes.items()}
    wanted = {name: share for name, share in asked.items() if share and sizes[name]}
    if not wanted:
        raise MixtureError("mixture: nothing is left of the sources that it takes from")
    whole = sum(wanted.values())
    wanted = {name: share / whole for name, share in wanted.items()}
    amounts = _amounts(mixture, wanted, most, mixture.total or _natural_total(wanted, sizes, most))
    taken = sum(amounts.values())
    shares = []
    for name in names:
        amount = amounts.get(name, 0.0)
        exhausted = not sizes[name] or (name in wanted and round(amount) >= most[name])
        shares.append(Share(name, sizes[name], asked[name], amount / taken, round(amount), exhausted))
    return shares


def _asked(mixture: Mixed, sizes: Mapping[str, int]) -> dict[str, float]:
    for name, size in sizes.items():
        if not size and not mixture.leaves_out(name) and mixture.on_exhausted != "renormalize":
            raise MixtureError(
                f"mixture: source {name!r} has no {mixture.unit} left in the train split; with "
                "mixture.on_exhausted: renormalize the others take its place"
            )
    weights = mixture.shares(sizes)
    whole = sum(weights.values()) or 1.0
    return {name: weight / whole for name, weight in weights.items()}


def _natural_total(wanted: Mapping[str, float], sizes: Mapping[str, int], most: Mapping[str, int]) -> float:
    return min(max(sizes[name] / share for name, share in wanted.items()), _largest_total(wanted, most))


def _largest_total(wanted: Mapping[str, float], most: Mapping[str, int]) -> float:
    return min(most[name] / share for name, share in wanted.items())


def _amounts(
    mixture: Mixed, wanted: Mapping[str, float], most: Mapping[str, int], total: float
) -> dict[str, float]:
    largest = _largest_total(wanted, most)
    if total > largest and mixture.on_exhausted == "error":
        name = min(wanted, key=lambda name: most[name] / wanted[name])
        raise MixtureError(
            f"mixture.total: {total:,} takes {wanted[name] * total:,.0f} {mixture.unit} of source {name!r}, "
            f"which has {most[name]:,} with all its repeats; take {int(largest)} or less, raise "
            f"max_repeats_of.{name}, or choose another on_exhausted"
        )
    if mixture.on_exhausted != "renormalize":
        total = min(total, largest)
    amounts: dict[str, float] = {}
    left = dict(wanted)
    while left:
        rest, whole = total - sum(amounts.values()), sum(left.values())
        full = [name for name, share in left.items() if share / whole * rest > most[name]]
        if not full:
            return amounts | {name: share / whole * rest for name, share in left.items()}
        for name in full:
            amounts[name] = float(most[name])
            del left[name]
    return amounts
