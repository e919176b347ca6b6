import json
import random

import pytest

from firth.corpus import SPLITS, CountMismatchError, Document, EmptyCorpusError
from firth.corpus.documents.corpus_counts import DROPPED, IN, KEPT, CorpusCounts, Flow
from firth.corpus.documents.split import hash_range, split_of
from firth.recipes.corpus.cleaning import Cleaning, LengthStep, Split
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.helpers import (
    CLEANING,
    clean,
    document,
    make_pipeline_of_two,
    random_text,
    read_records,
    read_to,
)
from tests.shared_data import shared_data


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory, documents):
    folder = tmp_path_factory.mktemp("cleaned")
    return folder, clean(folder, documents, CLEANING)


def test_the_funnel_by_hand(tmp_path):
    documents = [
        document("a whale", "1"),
        document("a whale\r\n", "2", "web"),
        document("whale", "3"),
        document("\x00", "4", "web"),
        *(document(f"ship {i}", f"more{i}") for i in range(20)),
    ]
    report = clean(tmp_path, documents, CLEANING)
    rows = {(row["step"], row["source"]): row for row in report["funnel"]}
    assert [row["step"] for row in report["funnel"][::2]] == ["normalize", "length", "exact_duplicates"]
    assert rows["normalize", "web"]["dropped"] == {"empty": {"documents": 1, "bytes": 1, "words": 1}}
    assert (rows["normalize", "web"]["bytes_in"], rows["normalize", "web"]["bytes_kept"]) == (10, 7)
    assert rows["length", "docs"]["dropped"] == {"too_few_words": {"documents": 1, "bytes": 5, "words": 1}}
    kept, dropped = sorted(documents[:2], key=lambda each: each.id)
    last = rows["exact_duplicates", dropped.source]
    assert last["dropped"] == {"duplicate": {"documents": 1, "bytes": 7, "words": 2}}
    assert (last["words_in"], last["words_kept"]) == ((2, 0) if dropped.source == "web" else (42, 40))
    assert report["duplicate_clusters"] == [{"step": "exact_duplicates", "size": 2, "clusters": 1}]
    assert report["duplicate_buckets"] == report["measured"] == []
    examples = {each["reason"]: each for each in report["dropped_examples"]}
    assert examples["duplicate"]["id"] == dropped.id
    assert examples["too_few_words"]["excerpt"] == "whale"
    assert report["lengths"]["cleaned_words"] == {"lower": [0, 1, 2], "documents": [0, 0, 21]}
    left = [Document.from_example(each) for split in SPLITS for each in read_records(f"{tmp_path}/{split}/*")]
    assert kept.id in {each.id for each in left}
    assert len(left) == 21


@pytest.mark.repeated
def test_cleaning_does_not_depend_on_order_or_workers(cleaned, tmp_path, documents):
    folder, first = cleaned
    shuffled = random.Random(5).sample(documents, len(documents))
    second = clean(tmp_path, shuffled, CLEANING, make_pipeline_of_two)
    assert first == second
    assert second["dropped_examples"] and second["languages"]["read"]
    for split in SPLITS:
        records = [sorted(read_records(f"{run}/{split}/*")) for run in (folder, tmp_path)]
        assert records[0] == records[1]


def test_splits_share_no_text_and_add_up(cleaned):
    tmp_path, report = cleaned
    texts = {
        split: [Document.from_example(each).text for each in read_records(f"{tmp_path}/{split}/*")]
        for split in SPLITS
    }
    assert not set(texts["train"]) & set(texts["eval"])
    assert len(set(texts["train"] + texts["eval"])) == sum(map(len, texts.values()))
    whole = hash_range(texts["train"] + texts["eval"])
    assert all(split_of(text, 0.3, whole) == split for split in SPLITS for text in texts[split])
    for row in report["funnel"]:
        dropped = sum(each["documents"] for each in row["dropped"].values())
        assert row["documents_in"] == row["documents_kept"] + dropped
    last = [row for row in report["funnel"] if row["step"] == "exact_duplicates"]
    for unit in ("documents", "bytes"):
        assert sum(row[unit] for row in report["splits"]) == sum(row[f"{unit}_kept"] for row in last)
    assert {row["licence"] for row in report["splits"]} >= {"books licence", "web licence"}


def test_licences_are_counted_as_read_and_as_left(cleaned, documents):
    _, report = cleaned
    rows = {(row["licence"], row["source"]): row for row in report["licences"]}
    assert rows.keys() == {(each.licence, each.source) for each in documents}
    for (licence, source), row in rows.items():
        mine = [each for each in documents if (each.licence, each.source) == (licence, source)]
        assert row["documents_in"] == len(mine)
        assert row["bytes_in"] == sum(each.size for each in mine)
        assert row["words_in"] == sum(len(each.text.split()) for each in mine)
        left = [each for each in report["splits"] if (each["licence"], each["source"]) == (licence, source)]
        for unit in ("documents", "bytes", "words"):
            assert row[f"{unit}_kept"] == sum(each[unit] for each in left) > 0


def test_examples_and_addresses_are_shown_without_personal_data(tmp_path):
    mail, key = "jane@roe.org", "eyJ" + "a" * 400 + ".eyJ" + "b" * 4000 + "." + "c" * 400
    texts = {
        f"x.org/?of={mail}": f"write to {mail} ".upper(),
        "y": f"{'so it is ' * 32}{mail}",
        "z": f"my {key}",
    }
    documents = [document(text, name) for name, text in texts.items()]
    cleaning = Cleaning(steps=(LengthStep(kind="length", min_words=999),))
    with pytest.raises(EmptyCorpusError):
        clean(tmp_path, documents, cleaning)
    written = (tmp_path / "report" / "corpus_report.json").read_text()
    shown = {each["uri"]: each["excerpt"] for each in json.loads(written)["dropped_examples"]}
    assert mail not in written.lower() and "eyJ" not in written
    assert shown["x.org/?of=<EMAIL>"] == "WRITE TO <EMAIL> "
    # The address is across the excerpt's end.
    assert shown["y"] == "so it is " * 32 + "<EMAIL>" and len("so it is " * 32) < 300
    assert shown["z"] == "my <SECRET>"


def test_each_rule_shows_the_documents_of_the_smallest_ids_in_short_where_nothing_is_left(tmp_path):
    documents = [document(f"word{i} " + "long " * 400, str(i)) for i in range(9)]
    cleaning = Cleaning(steps=(LengthStep(kind="length", min_words=999),))
    with pytest.raises(
        EmptyCorpusError, match=r"of 9 .*length dropped 9 .*'docs'.*too_few_words.*cleaning\.steps"
    ):
        clean(tmp_path, documents, cleaning)
    report = json.loads((tmp_path / "report" / "corpus_report.json").read_text())
    shown = report["dropped_examples"]
    assert [each["id"] for each in shown] == sorted(each.id for each in documents)[:3]
    texts = {each.id: each.text for each in documents}
    assert [each["excerpt"] for each in shown] == [texts[each["id"]][:300] for each in shown]


def test_languages_of_a_sample_as_read_and_as_left(tmp_path):
    english = "It was the best of times, it was the worst of times, chapter"
    german = "Es war die beste und die schlimmste Zeit, kurz"
    texts = [f"{english} {i}." for i in range(4)] + [f"{german} {i}." for i in range(3)]
    cleaning = Cleaning(steps=(LengthStep(kind="length", min_words=11),))
    report = clean(tmp_path, [document(text, str(i)) for i, text in enumerate(texts)], cleaning)
    assert report["languages"] == {"read": {"en": 4, "de": 3}, "cleaned": {"en": 4}}


def test_an_empty_split_is_an_error(tmp_path):
    cleaning = Cleaning(steps=(), split=Split(eval_fraction=1e-9))
    with pytest.raises(EmptyCorpusError, match="eval"):
        clean(tmp_path, [document("one two three")], cleaning)


def test_documents_that_go_missing_are_noticed():
    totals = CorpusCounts()
    totals.add(Flow("length", "docs", IN), 1)
    with pytest.raises(CountMismatchError, match=r"'length', source 'docs'.*1 in"):
        totals.check(["length"])
    totals.add(Flow("length", "docs", DROPPED, "too_few_words"), 1)
    totals.check(["length"])
    totals.add(Flow("next", "docs", IN), 1)
    totals.add(Flow("next", "docs", KEPT), 1)
    with pytest.raises(CountMismatchError, match=r"0 kept .*1 in"):
        totals.check(["length", "next"])


@pytest.mark.repeated
@pytest.mark.needs_data("c4/c4_docs.jsonl", twin="test_made_up_pages")
def test_real_web_pages(tmp_path):
    check_most_pages_stay(tmp_path, shared_data("c4/c4_docs.jsonl"))


def test_made_up_pages(tmp_path):
    texts = [random_text(random.Random(number), 60) for number in range(120)]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    check_most_pages_stay(tmp_path, path)


def check_most_pages_stay(folder, path):
    documents = read_to(folder, [JsonlSource(kind="jsonl", paths=(str(path),))])
    assert len(documents) > 100
    report = clean(folder, documents, Cleaning())
    assert sum(row["documents"] for row in report["splits"]) > 0.9 * len(documents)
