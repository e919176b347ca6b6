"""Mixing of tokenized documents of several sources, on Beam."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton, PCollection, TaggedOutput

from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.errors import MixtureError
from firth.corpus.grouping.tables import table_of
from firth.corpus.grouping.values import Values
from firth.corpus.packing.mixture_plan import Cut, Share, plan_mixture
from firth.corpus.packing.tokenization import TokenizedDocument, tokenized_documents
from firth.corpus.text.shingles import mix
from firth.recipes.corpus.mixture import Mixed

# A source's documents are counted in 2**BIN_BITS bins of their hashes. One bin of each is examined again.
BIN_BITS = 12
Group = tuple[int, Values]
MixedGroup = tuple[int, list[TokenizedDocument]]
# Values by name of the source.
Bins = dict[str, np.ndarray]
Tables = dict[str, np.ndarray]


@beam.ptransform_fn
def Mix(
    groups: PCollection[Group], mixture: Mixed, sources: Sequence[str]
) -> tuple[PCollection[MixedGroup], PCollection[list], PCollection[Counter]]:
    """Repeats documents and leaves out others: groups of a split to (groups, the plan, counts).

    The groups come from `GroupValues`, and the result has their documents in lists. The plan is one list of
    (`Share`, `Cut`). The counts are by name: `repeated_documents`, without each document's first copy, and
    `left_out_documents`. A source's documents are taken in the order of a hash of seed and id, until its
    share is met as nearly as whole documents allow. The result therefore does not depend on the order of
    documents or on workers. A worker holds the documents of a group, counts by hash, and the hashes in one of
    4,096 bins of each source.

    Raises:
        MixtureError: on a worker, as in `plan_mixture`.
    """
    bins = groups | "Count" >> beam.Map(_bins, mixture) | "Sum" >> beam.CombineGlobally(_sum_bins)
    plan = bins | "Plan" >> beam.Map(_plan, mixture, sources)
    tables = (
        groups
        | "Border" >> beam.Map(_border, mixture, AsSingleton(plan))
        | "Gather" >> beam.CombineGlobally(_join_tables)
    )
    cuts = tables | "Cut" >> beam.Map(_cuts, AsSingleton(plan))
    outputs = groups | "Repeat" >> beam.FlatMap(_repeat, mixture.seed, AsSingleton(cuts)).with_outputs(
        "counts", main="groups"
    )
    outputs.groups.element_type = Unmeasured
    return outputs.groups, cuts, outputs.counts


def amounts_of(document: TokenizedDocument) -> dict[str, int]:
    """Returns the size of a document by unit: `documents`, `bytes` and `tokens`."""
    return {"documents": 1, "bytes": document.size, "tokens": len(document.tokens)}


def _columns(group: Group, mixture: Mixed) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yields each source with the hashes, uint64 [documents], and amounts, int64 [documents]."""
    by_source: dict[str, list[tuple[int, int]]] = {}
    for document in tokenized_documents(group[1]):
        amount = amounts_of(document)[mixture.unit]
        by_source.setdefault(document.source, []).append((document.key, amount))
    for source, pairs in by_source.items():
        keys, amounts = zip(*pairs)
        yield source, _hashes(keys, mixture.seed), np.array(amounts, np.int64)


def _hashes(keys: Sequence[int], seed: int) -> np.ndarray:
    return mix(np.array(keys, np.uint64) ^ mix(np.array([seed], np.uint64)))


def _bin_of(hashes: np.ndarray) -> np.ndarray:
    return (hashes >> np.uint64(64 - BIN_BITS)).astype(np.int64)


def _bins(group: Group, mixture: Mixed) -> Bins:
    """Returns for each source the total amount in each bin, followed by the largest amount of a document."""
    found = {}
    for source, hashes, amounts in _columns(group, mixture):
        found[source] = np.zeros(2**BIN_BITS + 1, np.int64)
        np.add.at(found[source], _bin_of(hashes), amounts)
        found[source][-1] = amounts.max()
    return found


def _sum_bins(parts: Iterable[Bins]) -> Bins:
    total: Bins = {}
    for part in parts:
        for source, bins in part.items():
            before = total.get(source, np.zeros_like(bins))
            total[source] = before + bins
            total[source][-1] = max(before[-1], bins[-1])
    return total


class _Step(NamedTuple):
    """A source's share, and the amount to take of its border bin, before that bin is examined."""

    share: Share
    full: int
    bin: int
    rest: int
    largest: int


def _plan(bins: Bins, mixture: Mixed, sources: Sequence[str]) -> list[_Step]:
    available = {source: int(each[:-1].sum()) for source, each in bins.items()}
    return [_step(share, bins.get(share.source)) for share in plan_mixture(mixture, available, sources)]


def _step(share: Share, bins: np.ndarray | None) -> _Step:
    if bins is None or not share.available:
        return _Step(share, 0, 0, 0, 0)
    full, rest = divmod(share.amount, share.available)
    ends = np.cumsum(bins[:-1])
    border = int(np.searchsorted(ends, rest, "right"))
    return _Step(share, full, border, rest - int(ends[border] - bins[border]), int(bins[-1]))


def _border(group: Group, mixture: Mixed, plan: list[_Step]) -> Tables:
    borders = {step.share.source: step.bin for step in plan}
    found = {}
    for source, hashes, amounts in _columns(group, mixture):
        inside = _bin_of(hashes) == borders[source]
        found[source] = table_of(hash=hashes[inside], amount=amounts[inside])
    return found


def _join_tables(parts: Iterable[Tables]) -> Tables:
    found: dict[str, list[np.ndarray]] = {}
    for part in parts:
        for source, table in part.items():
            found.setdefault(source, []).append(table)
    return {source: np.concatenate(tables) for source, tables in found.items()}


def _cuts(tables: Tables, plan: list[_Step]) -> list[tuple[Share, Cut]]:
    return [(step.share, Cut(step.full, _limit(step, tables), step.largest)) for step in plan]


def _limit(step: _Step, tables: Tables) -> int:
    """Returns the limit of hashes at which the amount taken of the border bin is nearest to the plan."""
    if step.share.source not in tables:
        return 0
    table = tables[step.share.source]
    hashes, places = np.unique(table["hash"], return_inverse=True)
    sums = np.cumsum(np.append(0, np.bincount(places, table["amount"], len(hashes)))).astype(np.int64)
    taken = int(np.abs(sums - step.rest).argmin())
    return int(hashes[taken]) if taken < len(hashes) else (step.bin + 1) << (64 - BIN_BITS)


def _repeat(group: Group, seed: int, cuts: list[tuple[Share, Cut]]) -> Iterator[Any]:
    by_source = {share.source: cut for share, cut in cuts}
    documents = list(tokenized_documents(group[1]))
    counts: Counter[str] = Counter()
    mixed: list[TokenizedDocument] = []
    hashes = _hashes([document.key for document in documents], seed)
    for document, hash in zip(documents, hashes.tolist()):
        times = repeats_of(hash, by_source[document.source])
        mixed += [dataclasses.replace(document, copy=copy) for copy in range(times)]
        counts.update(left_out_documents=not times, repeated_documents=max(0, times - 1))
    yield group[0], mixed
    yield TaggedOutput("counts", counts)


def repeats_of(hash: int, cut: Cut) -> int:
    """Returns how many times a document is in the mixture.

    Example:

    >>> [repeats_of(hash, Cut(full=1, limit=100, largest=7)) for hash in (99, 100)]
    [2, 1]
    """
    return cut.full + (hash < cut.limit)


def measure(documents: Iterable[TokenizedDocument]) -> Counter[tuple[str, str]]:
    """Returns the total size of documents, by (source, unit)."""
    counts: Counter[tuple[str, str]] = Counter()
    for document in documents:
        for unit, amount in amounts_of(document).items():
            counts[document.source, unit] += amount
    return counts


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
