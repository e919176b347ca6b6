"""The step that drops documents by rules for the domains of their pages."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy as np

from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.hashing import hash63
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Keep, Setting
from firth.corpus.grouping.marks import Decisions, Documents, JoinMarks
from firth.corpus.grouping.tables import Group, GroupTables, gather, id_halves, sort_table, table_of
from firth.corpus.text.web_addresses import canonical_host, domains_of, host_of, registered_domain
from firth.recipes.corpus.domains import DomainCap, DomainRulesStep

_NO_LIMIT = sys.maxsize
ORDER = ("order", "id_high", "id_low")


class DomainRules(CorpusStep[DomainRulesStep]):
    """Drops documents of a domain that is `blocked_<domain>`, or beyond its limits, `beyond_<domain>`.

    The reason is `beyond_each` for domains without a rule of their own. The count `kept_<domain>` is that of
    documents that a rule left. A worker that counts a domain holds rows of 56 bytes for the documents that
    are kept of it, and no texts.

    Raises:
        CorpusError: on construction, if two rules are for one domain, once in letters and once as `xn--`.
    """

    def __init__(self, config: DomainRulesStep) -> None:
        super().__init__(config)
        self._table = RuleTable(config)
        self.reasons = self._table.reasons

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        table = self._table
        nothing_else = documents.pipeline | "NothingElse" >> beam.Create([CorpusCounts()])
        if not len(table.limits):
            return documents | "Decide" >> beam.Map(table.decide_all).with_output_types(
                Unmeasured
            ), nothing_else
        entries = documents | "Describe" >> beam.Map(entries_of, table, self._config.seed)
        grouped = {"entries": entries} | "ByDomain" >> GroupTables({"entries": "domain"}, setting.grouping)
        marks = grouped | "Beyond" >> beam.FlatMap(beyond_caps, table.limits)
        join = JoinMarks(table.decide, setting.grouping)
        return {"documents": documents, "marks": marks} | "Join" >> join, nothing_else


class AppliedRule(NamedTuple):
    """The rule that applies to the documents of a domain.

    Attributes:
        domain: The domain that the documents are counted by.
        name: Name of the rule in the report: its domain, or `each`.
        drops: True if the documents are dropped.
        cap: Index of its limits in `RuleTable.limits`; -1 if it has none.
    """

    domain: str
    name: str
    drops: bool = False
    cap: int = -1


class RuleTable:
    """The rules by their domain.

    Attributes:
        limits: int64 [caps, 3], limits on documents, words and bytes.
        reasons: Every reason for which a document may be dropped.

    Example:

    >>> from firth.recipes.corpus.domains import DomainRule
    >>> spam = DomainRule(domain="spam.example", action="drop")
    >>> table = RuleTable(DomainRulesStep(kind="domain_rules", rules=(spam,)))
    >>> table.rule_of("http://www.spam.example/a"), table.rule_of("http://example.org/")
    (AppliedRule(domain='spam.example', name='spam.example', drops=True, cap=-1), None)
    """

    def __init__(self, config: DomainRulesStep) -> None:
        limits: list[list[int]] = []
        self._rules: dict[str, AppliedRule] = {}
        for rule in config.rules:
            domain = canonical_host(rule.domain)
            if domain in self._rules:
                raise CorpusError(f"domain_rules: two rules are for {domain}, one of them as {rule.domain}")
            drops = rule.action == "drop"
            self._rules[domain] = AppliedRule(domain, domain, drops, _add_limits(limits, rule))
        self._each = _add_limits(limits, config.each_domain) if config.each_domain else -1
        self.limits = np.array(limits, np.int64).reshape(-1, len(DomainCap.model_fields))
        blocked = {f"blocked_{rule.name}" for rule in self._rules.values() if rule.drops}
        capped = {f"beyond_{rule.name}" for rule in self._rules.values() if rule.cap >= 0}
        self.reasons = frozenset(blocked | capped | ({"beyond_each"} if config.each_domain else set()))

    def rule_of(self, uri: str) -> AppliedRule | None:
        """Returns the rule for a page, or None."""
        host = host_of(uri)
        rules = (self._rules[domain] for domain in domains_of(host) if domain in self._rules)
        each = (
            AppliedRule(registered_domain(host), "each", cap=self._each) if self._each >= 0 and host else None
        )
        return next(rules, each)

    def decide(self, document: Document, marks: np.ndarray, again: bool = False) -> Decision:
        """Returns the decision about a document, as a `decide` of `JoinMarks`."""
        rule = self.rule_of(document.uri)
        if not rule:
            return Keep(document)
        if rule.drops:
            return Drop(f"blocked_{rule.name}")
        if len(marks):
            return Drop(f"beyond_{rule.name}")
        return Keep(document, {f"kept_{rule.name}": 1})

    def decide_all(self, documents: Sequence[Document]) -> list[tuple[Document, Decision]]:
        """Returns the decisions about documents where no domain has limits."""
        return [(document, self.decide(document, np.zeros(0))) for document in documents]


def _add_limits(limits: list[list[int]], cap: DomainCap) -> int:
    """Adds the limits of a cap, and returns their index; -1 if it has none."""
    if not cap.limits:
        return -1
    limits.append([cap.limits.get(name, _NO_LIMIT) for name in DomainCap.model_fields])
    return len(limits) - 1


def entries_of(documents: Sequence[Document], table: RuleTable, seed: int) -> np.ndarray:
    """Returns the entries, for `beyond_caps`, of documents whose domain has limits."""
    ruled = [(document, table.rule_of(document.uri)) for document in documents]
    capped = [(document, rule) for document, rule in ruled if rule and rule.cap >= 0]
    high, low = id_halves(document for document, _ in capped)
    return table_of(
        domain=np.array([hash63(rule.domain) for _, rule in capped], np.uint64),
        order=np.array([hash63("domain", str(seed), each.id) for each, _ in capped], np.uint64),
        id_high=high,
        id_low=low,
        words=np.array([document.words for document, _ in capped], np.int64),
        bytes=np.array([document.size for document, _ in capped], np.int64),
        cap=np.array([rule.cap for _, rule in capped], np.int64),
    )


def beyond_caps(element: Group, limits: np.ndarray) -> Iterator[np.ndarray]:
    """Yields marks of the documents of a group that are beyond the limits of their domains, for `JoinMarks`.

    Args:
        element: A group of tables `entries`: `domain`, a hash of it; `order`, `id_high` and `id_low`, by
            which the documents of a domain are taken; their `words` and `bytes`; and `cap`, the index of the
            limits.
        limits: int64 [caps, 3], limits on documents, words and bytes.
    """
    group = element[1]
    first = FirstBeyond(group.of("entries"), limits)
    for entries in group.of("entries"):
        goes = _too_large(entries, limits) | first.reached_by(entries)
        yield table_of(**{name: entries[name][goes] for name in ("id_high", "id_low")})


class FirstBeyond:
    """The first document of each domain that would exceed the limits.

    It holds the rows up to that document, and so many more that are to be merged, however many documents a
    domain has.

    Args:
        limits: int64 [caps, 3], limits on documents, words and bytes.
    """

    def __init__(self, tables: Iterable[np.ndarray], limits: np.ndarray) -> None:
        self._limits = limits
        self._rows: np.ndarray | None = None
        self._beyond = np.zeros(0, bool)
        fitting = (table[~_too_large(table, limits)] for table in tables)
        for gathered in gather(fitting, lambda: len(self._beyond)):
            self._fold(gathered)

    def reached_by(self, entries: np.ndarray) -> np.ndarray:
        """Returns which documents are that document of their domain or come after it: bool [entries]."""
        found = np.zeros(len(entries), bool)
        if self._rows is None or not self._beyond.any():
            return found
        firsts = self._rows[self._beyond]
        places = np.searchsorted(firsts["domain"], entries["domain"]).clip(max=len(firsts) - 1)
        nearest = firsts[places]
        reached = np.ones(len(entries), bool)
        for name in reversed(ORDER):
            reached = (entries[name] > nearest[name]) | ((entries[name] == nearest[name]) & reached)
        return reached & (entries["domain"] == nearest["domain"])

    def _fold(self, tables: list[np.ndarray]) -> None:
        parts = tables if self._rows is None else [self._rows, *tables]
        rows = sort_table(np.concatenate(parts), ["domain", *ORDER])
        starts = np.flatnonzero(np.append(True, rows["domain"][1:] != rows["domain"][:-1])[: len(rows)])
        beyond = (_sums(_sizes(rows), starts) > self._limits[rows["cap"]]).any(1)
        # The row at which a sum first exceeds a limit is the last of its domain that counts.
        stays = _sums(beyond.astype(np.int64), starts) - beyond == 0
        self._rows, self._beyond = rows[stays], beyond[stays]


def _sizes(entries: np.ndarray) -> np.ndarray:
    """Returns int64 [entries, 3]: one document each, its words and its bytes."""
    return np.stack([np.ones(len(entries), np.int64), entries["words"], entries["bytes"]], 1)


def _too_large(entries: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Returns bool [entries]: whether a document exceeds a limit on its own."""
    return (_sizes(entries) > limits[entries["cap"]]).any(1)


def _sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Returns the running sums of rows, which begin anew at each start."""
    totals = values.cumsum(0)
    before = totals[starts] - values[starts]
    return totals - np.repeat(before, np.diff(np.append(starts, len(values))), 0)
