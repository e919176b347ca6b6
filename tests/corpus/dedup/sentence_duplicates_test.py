import random
import re

import pytest

from firth.corpus.dedup.sentence_duplicates import units_of
from firth.recipes.corpus.duplicates import SentenceDuplicatesStep
from tests.corpus.duplicates_helpers import reasons, run_steps
from tests.corpus.helpers import document
from tests.shared_data import shared_data


def step(**settings) -> SentenceDuplicatesStep:
    return SentenceDuplicatesStep(
        kind="sentence_duplicates", **{"min_words": 0, "min_sentences": 0, **settings}
    )


LINES = step(unit="line", span=1)
# For each step, cases: texts of documents in the order of their priority, and what is left of them.
TABLE = [
    (
        step(),
        (["A b. C d. E f.", "X y. A b! C, d. E “f”. Z."], ["A b. C d. E f.", "X y. Z."]),
        (["A. B. C. D.", "A. B. X. C. D."], ["A. B. C. D.", "A. B. X. C. D."]),
        (["A. A. A. A. A."], ["A. A. A."]),
        (["B. C. D.", "A. B. C. D.", "A. B. C."], ["B. C. D.", "A. B. C.", None]),
        (["A. B.", "A. B."], ["A. B.", "A. B."]),
    ),
    (
        LINES,
        (["menu\n\nhome\n", "home\ntext\nMENU!"], ["menu\n\nhome\n", "text"]),
        (["* * *\none\n* * *\ntwo", "* * *\nthree"], ["* * *\none\n* * *\ntwo", "* * *\nthree"]),
    ),
    (step(unit="line", span=2), (["a\nb\nc", "b\nc\nd"], ["a\nb\nc", "d"])),
    (step(unit="line", span=1, min_words=2), (["a", "a\nb"], ["a", None])),
    (
        step(unit="line", span=1, min_sentences=2),
        (["A.", "A.\nB. C.", "A.\nD."], ["A.", "B. C.", None]),
    ),
]


def of_case(number: int, text: str) -> str:
    """Returns a text in words that no other case has."""
    return re.sub("[A-Za-z]+", lambda word: f"{word[0]}{'xyzuv'[number]}", text)


@pytest.mark.parametrize(("config", "cases"), [(config, cases) for config, *cases in TABLE])
def test_what_stands_in_several_places_is_cut(tmp_path, config, cases):
    left = {
        (f"{number}", f"source{i}"): text and of_case(number, text)
        for number, (_, after) in enumerate(cases)
        for i, text in enumerate(after)
    }
    documents = [
        document(of_case(number, text), f"{number}", f"source{i}")
        for number, (texts, _) in enumerate(cases)
        for i, text in enumerate(texts)
    ]
    sources = sorted({each.source for each in documents})
    kept, _ = run_steps(tmp_path, documents[::-1], config, sources=sources, batch=2)
    found = {(each.uri, each.source): each.text for each in kept}
    assert {place: found.get(place) for place in left} == left


def test_order_and_batches_change_nothing_and_lines_are_cut_once(tmp_path):
    generator = random.Random(0)
    texts = ["\n".join(f"line {generator.randint(0, 60)}" for _ in range(8)) for _ in range(30)]
    documents = [document(text, f"{i}") for i, text in enumerate(texts)]
    first = run_steps(tmp_path / "1", documents, LINES, batch=5)
    shuffled = generator.sample(documents, len(documents))
    second = run_steps(tmp_path / "2", shuffled, LINES, batch=17)
    assert first[0] == second[0]
    assert vars(first[1]) == vars(second[1])
    lines = [line for each in first[0] for line in each.text.split("\n")]
    assert sorted(lines) == sorted({line for text in texts for line in text.split("\n")})
    cut = sum(first[1].counts.values())
    again, totals = run_steps(tmp_path / "3", first[0], LINES)
    assert again == first[0]
    assert not totals.counts and not reasons(totals)
    dropped = {each.id for each in documents} - {each.id for each in first[0]}
    assert cut == 8 * (len(documents) - len(dropped)) - len(lines)


@pytest.mark.parametrize("unit", ["sentence", "line"])
@pytest.mark.parametrize("text", ["", "\n\n", "...\nOne. Two\n\n?!\n\nThree.", "One"])
def test_units_joined_are_the_text(text, unit):
    assert "".join(units_of(text, unit)) == text


@pytest.mark.repeated
@pytest.mark.needs_data(
    "dedup_fixtures/documents_with_line_duplicates",
    "dedup_fixtures/documents_line_deduplicated",
    twin="test_order_and_batches_change_nothing_and_lines_are_cut_once",
)
def test_lines_of_real_pages(tmp_path):
    before, after = (
        {path.name: path.read_text() for path in shared_data(f"dedup_fixtures/{name}").glob("*.txt")}
        for name in ("documents_with_line_duplicates", "documents_line_deduplicated")
    )
    kept, _ = run_steps(tmp_path, [document(text, name) for name, text in before.items()], LINES)
    found = [line for each in kept for line in each.text.splitlines()]
    # The reference cuts every copy of a line, and the first is left here.
    once = {line for text in after.values() for line in text.splitlines()}
    several = {line for text in before.values() for line in text.splitlines()} - once
    assert sorted(found) == sorted(once | several)
