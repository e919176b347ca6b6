"""The step that drops documents by rules for the domains of their pages."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy as np

from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.hashing import hash63
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Keep, Setting
from firth.corpus.filters.domain_caps import beyond_caps
from firth.corpus.grouping.identity import id_halves
from firth.corpus.grouping.marks import Decisions, Documents, JoinMarks
from firth.corpus.grouping.table_groups import GroupTables
from firth.corpus.grouping.tables import table_of
from firth.corpus.text.web_addresses import canonical_host, domains_of, host_of, registered_domain
from firth.recipes.corpus.domains import DomainCap, DomainRulesStep

_NO_LIMIT = sys.maxsize


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
    """What holds for the documents of a domain.

    Attributes:
        domain: The domain that the documents are counted by.
        name: Name of the rule in the report: its domain, or `each`.
        drops: Whether the documents are dropped.
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
        """Returns what holds for a page, or None."""
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
