"""Personal data: precision and recall on texts labelled by hand, and what takes its place."""

import pathlib
import random
import re
from collections import Counter

import pytest

from firth.corpus.documents.steps import Keep
from firth.corpus.privacy.national_ids import SCHEMES
from firth.corpus.privacy.pii import FINDERS, Finding, Pii
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.privacy import ID_COUNTRIES, PII_TYPES, PiiStep
from tests.corpus.helpers import clean, document
from tests.shared_data import shared_data

_LABEL = re.compile(r"\[\[([a-z0-9_]+):(.*?)\]\]", re.DOTALL)


def read_labelled() -> list[tuple[str, list[Finding]]]:
    lines = pathlib.Path(__file__).with_name("pii_labelled.txt").read_text(encoding="utf-8").split("\n")
    return [parse(line.replace("\\n", "\n")) for line in lines if line and not line.startswith("#")]


def parse(marked: str) -> tuple[str, list[Finding]]:
    """Returns the text without its labels, and what they say."""
    text, findings, position = "", [], 0
    for label in _LABEL.finditer(marked):
        text += marked[position : label.start()]
        findings.append(Finding(len(text), len(text) + len(label[2]), label[1]))
        text, position = text + label[2], label.end()
    return text + marked[position:], findings


LABELLED = read_labelled()
PLACEHOLDERS = Pii(PiiStep(kind="pii"))
SURROGATES = PiiStep(kind="pii", replacement="surrogate", seed=7)

# The least precision and recall of each type.
FLOORS = {
    "secret": (0.95, 0.9),
    "email": (0.95, 0.85),
    "ipv6": (0.95, 0.95),
    "ipv4": (0.95, 0.95),
    "iban": (0.95, 0.95),
    "credit_card": (0.95, 0.85),
    "national_id": (0.95, 0.95),
    "phone": (0.95, 0.9),
}


def test_precision_and_recall(capsys):
    found, right, labelled, mistakes = Counter(), Counter(), Counter(), []
    for text, expected in LABELLED:
        findings = PLACEHOLDERS.find(text)
        found.update(each.type for each in findings)
        labelled.update(each.type for each in expected)
        right.update(each.type for each in set(findings) & set(expected))
        mistakes += [f"missed {each.type}: {text}" for each in set(expected) - set(findings)]
        mistakes += [
            f"wrong {each.type} {text[each.start : each.end]}: {text}"
            for each in set(findings) - set(expected)
        ]
    with capsys.disabled():
        print(f"\n{'type':12} {'labelled':>8} {'found':>8} {'right':>8} {'precision':>10} {'recall':>8}")
        for name in PII_TYPES:
            row = f"{name:12} {labelled[name]:8} {found[name]:8} {right[name]:8}"
            print(row, f"{right[name] / found[name]:10.3f} {right[name] / labelled[name]:8.3f}")
    for name, (precision, recall) in FLOORS.items():
        assert right[name] >= precision * found[name], sorted(mistakes)
        assert right[name] >= recall * labelled[name], sorted(mistakes)


def test_the_labelled_set_is_large_enough():
    assert len(LABELLED) >= 120
    counts = Counter(finding.type for _, findings in LABELLED for finding in findings)
    assert set(counts) == set(PII_TYPES)
    assert min(counts.values()) >= 4
    assert sum(not findings for _, findings in LABELLED) >= 60


def test_the_tables_agree():
    assert tuple(FINDERS) == PII_TYPES
    assert {scheme.country for scheme in SCHEMES} == set(ID_COUNTRIES)
    assert all(scheme.written or scheme.cues for scheme in SCHEMES)
    assert set(FLOORS) == set(PII_TYPES)


def test_placeholders_by_hand():
    text = "Ask jane@roe.org or bo@roe.org at 9.9.9.9, tel. 212-736-5000."
    decision = PLACEHOLDERS.decide(document(text))
    assert decision == Keep(
        document("Ask <EMAIL> or <EMAIL> at <IPV4>, tel. <PHONE>."), {"email": 2, "ipv4": 1, "phone": 1}
    )
    assert PLACEHOLDERS.decide(document("Nothing.")) == Keep(document("Nothing."))


OPTIONS = [
    ({"types": ("email",)}, "a@b.org 9.9.9.9", "<EMAIL> 9.9.9.9"),
    ({}, "jo (at) roe (dot) org, bo @ roe.org, mail jane at roe dot org", "<EMAIL>, <EMAIL>, mail <EMAIL>"),
    ({}, "10.0.0.7 fd00::7 fe80::1", "10.0.0.7 fd00::7 fe80::1"),
    ({"private_addresses": True}, "10.0.0.7 fd00::7 fe80::1", "<IPV4> <IPV6> <IPV6>"),
    ({"private_addresses": True}, "127.0.0.1 ::1 192.0.2.1", "127.0.0.1 ::1 192.0.2.1"),
    ({}, "tel 020 7930 4832", "tel 020 7930 4832"),
    ({"phone_regions": ("GB",)}, "tel 020 7930 4832", "tel <PHONE>"),
    ({"id_countries": ("US",)}, "536-90-4399 390.533.447-05", "<NATIONAL_ID> 390.533.447-05"),
    ({"id_countries": ()}, "536-90-4399", "536-90-4399"),
    ({"min_secret_entropy": 4.5}, "token = 1a1a1a1a2b2b2b2b", "token = 1a1a1a1a2b2b2b2b"),
    ({"min_secret_entropy": 1.0}, "token = 1a1a1a1a2b2b2b2b", "token = <SECRET>"),
]


@pytest.mark.parametrize(("options", "text", "expected"), OPTIONS)
def test_options(options, text, expected):
    assert Pii(PiiStep(kind="pii", **options)).scrub(text) == expected


def shape(value: str) -> str:
    return re.sub(r"[a-z]", "a", re.sub(r"[^\W\d_a-z]", "A", re.sub(r"\d", "0", value)))


@pytest.mark.parametrize("name", PII_TYPES)
def test_surrogates_have_the_shape_and_are_nobodys(name):
    step, seen = Pii(SURROGATES), 0
    for text, _ in LABELLED:
        for finding in PLACEHOLDERS.find(text):
            value = text[finding.start : finding.end]
            if finding.type == name:
                seen += 1
                surrogate = step._replacement(name, value)
                assert surrogate != value
                assert not any(finder.accepts(surrogate) for finder in step._finders.values())
                if name in ("iban", "credit_card", "national_id", "phone"):
                    assert shape(surrogate) == shape(value)
                elif name == "secret":
                    assert len(surrogate) == len(value)
                elif name == "email":
                    assert re.fullmatch(r"\S+@example\.(com|net|org)", surrogate)
    assert seen >= 4


def test_a_value_has_one_surrogate_whatever_stands_around_it(tmp_path):
    texts = [f"{text} Ask jane.roe@mail.org." for text, _ in LABELLED]
    first = Pii(SURROGATES).scrub("Ask jane.roe@mail.org.").split()[1]
    shuffled = random.Random(1).sample(texts, len(texts))
    step, again = Pii(SURROGATES), Pii(SURROGATES)
    replaced = {text: step.scrub(text) for text in texts}
    assert all(first in each for each in replaced.values())
    assert replaced == {text: again.scrub(text) for text in shuffled}
    other = Pii(SURROGATES.model_copy(update={"seed": 8}))
    assert other.scrub("Ask jane.roe@mail.org.").split()[1] != first


@pytest.mark.parametrize("replacement", ["placeholder", "surrogate"])
def test_a_second_pass_changes_nothing(replacement):
    step = Pii(PiiStep(kind="pii", replacement=replacement))
    for text, _ in LABELLED:
        once = step.scrub(text)
        assert step.scrub(once) == once


def test_what_was_replaced_is_counted_in_the_report(tmp_path):
    documents = [document(f"Ask jane{i}@roe.org or call 212-736-5000 {i}.", f"{i}") for i in range(20)]
    cleaning = Cleaning(steps=(PiiStep(kind="pii"),), split=Split(eval_fraction=0.3))
    report = clean(tmp_path, documents, cleaning)
    assert report["counts"] == [
        {"step": "pii", "source": "docs", "name": name, "count": 20} for name in ("email", "phone")
    ]


@pytest.mark.parametrize(
    "unit",
    [
        ":",
        "1",
        "1 ",
        "12 ",
        "a@",
        "A1",
        "token=",
        "-----BEGIN PRIVATE KEY-----\n",
        "1.",
        "eyJ",
        "+1",
        "ab:",
        "a.@",
    ],
)
def test_signs_that_repeat_are_no_personal_data(unit):
    assert PLACEHOLDERS.find(unit * 10_000) == []


@pytest.mark.repeated
@pytest.mark.needs_data(
    "golden/text_normalize", twin="tests/corpus/privacy/pii_table_test.py::test_recall_and_precision"
)
def test_news_has_little_that_is_personal():
    lines = shared_data("golden/text_normalize/text_normalization_ag_news_test.csv").read_text().split("\n")
    counts = Counter(finding.type for line in lines for finding in PLACEHOLDERS.find(line))
    assert sum(counts.values()) < 0.01 * len(lines), counts
