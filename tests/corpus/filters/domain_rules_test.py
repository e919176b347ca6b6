"""Which documents rules for domains drop, and which of a domain its limits keep."""

import dataclasses
import random

import numpy as np
import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.hashing import hash63
from firth.corpus.filters.domain_rules import FirstBeyond, RuleTable, entries_of
from firth.recipes import Cleaning, DomainRule, DomainRulesStep, EachDomainCap, LengthStep, Split
from tests.corpus.duplicates_helpers import reasons, run_steps
from tests.corpus.helpers import clean, document, make_pipeline, make_pipeline_of_two


def rule(domain, **keys):
    return DomainRule(domain=domain, **keys)


def step(*rules, **keys):
    return DomainRulesStep(kind="domain_rules", rules=rules, **keys)


def pages(host, number, text="One two three."):
    return [
        dataclasses.replace(document(text, f"{host} {i}"), uri=f"http://{host}/{i}") for i in range(number)
    ]


def in_order(documents, seed=0):
    return sorted(documents, key=lambda each: hash63("domain", str(seed), each.id))


def kept_by(folder, documents, config, **keys):
    kept, totals = run_steps(folder, documents, config, **keys)
    return {each.id for each in kept}, reasons(totals), totals


RULES = step(
    rule("bad.example", action="drop"),
    rule("good.bad.example", action="keep"),
    rule("Bücher.example.", action="drop"),
    rule("co.uk", action="drop"),
)
URLS = {
    "http://bad.example/": "blocked_bad.example",
    "https://me:pw@www.BAD.example:8080/x": "blocked_bad.example",
    "http://good.bad.example/": True,
    "http://a.good.bad.example/": True,
    "http://notgood.bad.example/": "blocked_bad.example",
    "http://bad.example.org/": True,
    "http://www.xn--bcher-kva.example/": "blocked_xn--bcher-kva.example",
    "http://a.co.uk/": "blocked_co.uk",
    "books/bad.example/a.txt": True,
}


def test_the_most_special_rule_counts(tmp_path):
    documents = [dataclasses.replace(document("Text.", url), uri=url) for url in URLS]
    kept, totals = run_steps(tmp_path, documents, RULES)
    assert {each.uri for each in kept} == {url for url, fate in URLS.items() if fate is True}
    expected = [fate for fate in URLS.values() if fate is not True]
    assert reasons(totals) == {each: expected.count(each) for each in expected}
    assert set(expected) == STEPS["domain_rules"](RULES).reasons
    assert {what.name: count for what, count in totals.counts.items()} == {"kept_good.bad.example": 2}


def test_limits_keep_the_documents_of_the_smallest_hashes(tmp_path):
    forum, other, alone = pages("forum.example", 9), pages("a.other.example", 5), pages("one.example", 2)
    config = step(
        rule("forum.example", max_documents=4),
        rule("one.example"),
        each_domain=EachDomainCap(max_documents=2),
        seed=3,
    )
    assert {each.id for each in in_order(forum, 3)[:4]} != {each.id for each in in_order(forum)[:4]}
    everything = [*forum, *other, *alone, document("No page.")]
    kept, why, totals = kept_by(tmp_path, everything, config)
    wanted = [*in_order(forum, 3)[:4], *in_order(other, 3)[:2], *alone, document("No page.")]
    assert kept == {each.id for each in wanted}
    assert why == {"beyond_forum.example": 5, "beyond_each": 3}
    assert {each.name: count for each, count in totals.counts.items()} == {
        "kept_forum.example": 4,
        "kept_each": 2,
        "kept_one.example": 2,
    }


def test_words_and_bytes_are_limited_and_a_large_document_takes_no_part(tmp_path):
    sizes = {"max_words": ("words.example", 3), "max_bytes": ("bytes.example", len("One two three."))}
    documents, wanted = [], []
    for host, _ in sizes.values():
        small = pages(host, 6)
        large = dataclasses.replace(document("word " * 100, host), uri=f"http://www.{host}/large")
        documents += [large, *small]
        wanted += in_order(small)[:4]
    config = step(*(rule(host, **{key: 4 * size + 1}) for key, (host, size) in sizes.items()))
    kept, why, _ = kept_by(tmp_path, documents, config)
    assert kept == {each.id for each in wanted}
    assert why == {"beyond_words.example": 3, "beyond_bytes.example": 3}


def test_subdomains_share_the_limit_of_what_was_registered(tmp_path):
    hosts = [page for host in ("a.x.co.uk", "b.x.co.uk", "y.co.uk") for page in pages(host, 3)]
    kept, why, _ = kept_by(tmp_path, hosts, step(each_domain=EachDomainCap(max_documents=3)))
    assert kept == {each.id for each in [*in_order(hosts[:6])[:3], *hosts[6:]]}
    assert why == {"beyond_each": 3}


def corpus():
    generator = random.Random(0)
    texts = ["word " * generator.randint(1, 9) + str(number) for number in range(20)]
    hosts = [f"{sub}.{name}-site.org" for name in "abcdef" for sub in "012"]
    return [page for i, host in enumerate(hosts) for page in pages(host, 7 - i % 3 // 2, texts[i])]


@pytest.mark.repeated
def test_order_batches_groups_and_workers_change_nothing(tmp_path):
    config = step(
        rule("a-site.org", max_words=30),
        rule("b-site.org", action="drop"),
        each_domain=EachDomainCap(max_documents=9, max_bytes=300),
    )
    documents, shuffled = corpus(), random.Random(1).sample(corpus(), 120)

    def run(name, documents, **keys):
        kept, why, totals = kept_by(tmp_path / name, documents, config, **keys)
        return kept, why, totals.documents, totals.bytes, totals.counts

    first = run("1", documents, batch=9)
    assert set(first[1]) == {"beyond_a-site.org", "blocked_b-site.org", "beyond_each"}
    assert run("2", shuffled, batch=31, groups=3, by_files=True, pipeline=make_pipeline_of_two) == first


def test_rows_are_merged_in_parts_as_they_are_at_once(monkeypatch):
    table = RuleTable(step(each_domain=EachDomainCap(max_documents=4, max_words=25)))
    entries = entries_of(corpus(), table, 0)
    at_once = FirstBeyond([entries], table.limits).reached_by(entries)
    assert 0 < at_once.sum() < len(entries)
    monkeypatch.setattr("firth.corpus.grouping.tables.FOLD_ROWS", 10)
    order = np.random.default_rng(0).permutation(len(entries))
    parts = np.array_split(entries[order], 17)
    np.testing.assert_array_equal(FirstBeyond(parts, table.limits).reached_by(entries), at_once)
    # What is held does not grow with the documents.
    assert len(FirstBeyond(parts * 9, table.limits)._rows) <= 6 * 5


def test_the_report_counts_by_rule_and_domain(tmp_path):
    config = step(rule("0.a-site.org", action="drop"), rule("b-site.org", max_documents=5))
    cleaning = Cleaning(
        steps=(config, LengthStep(kind="length", min_words=1)), split=Split(eval_fraction=0.3)
    )
    report = clean(tmp_path, corpus(), cleaning, make_pipeline)
    dropped = report["funnel"][0]["dropped"]
    counts = {reason: sizes["documents"] for reason, sizes in dropped.items()}
    assert counts == {"blocked_0.a-site.org": 7, "beyond_b-site.org": 15}
    by_domain = {row["domain"]: row["dropped"] for row in report["domains"]["largest"] if row["dropped"]}
    assert by_domain == {
        "a-site.org": {"domain_rules: blocked_0.a-site.org": 7},
        "b-site.org": {"domain_rules: beyond_b-site.org": 15},
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rule("https://Spam.example/x"), r"'https://Spam.example/x'.* Spam.example\?"),
        (lambda: rule("*.spam.example"), r" spam.example\?"),
        (
            lambda: rule("spam example"),
            r"'spam example'",
        ),
        (lambda: rule("a.example", action="dropp"), r"\bdrop\?"),
        (lambda: rule("a.example", max_document=1), r"max_documents\?"),
        (lambda: rule("a.example", action="drop", max_words=1), "max_words"),
        (lambda: EachDomainCap(), "max_documents, max_words, max_bytes"),
        (lambda: step(rule("a.example")), "drops nothing"),
        (lambda: step(rule("a.b", action="drop"), rule("A.b", max_words=1)), "'a.b'"),
        (lambda: step(rule("a.b", action="drop"), rule("a.b.", max_words=1)), "'a.b'"),
    ],
)
def test_rules_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_domain_in_letters_and_in_ascii_is_one():
    both = step(rule("bücher.example", action="drop"), rule("xn--bcher-kva.example", max_words=9))
    with pytest.raises(CorpusError, match=r"two .*xn--bcher-kva.example"):
        STEPS["domain_rules"](both)
