import dataclasses
import random

import pytest

from firth.corpus import SPLITS, Document
from firth.corpus.curation.outputs import write_parquet
from firth.corpus.dedup.clusters import MinHash
from firth.corpus.documents.corpus_counts import KEPT
from firth.corpus.documents.errors import SourceError
from firth.corpus.io.records import write_records
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.readers.dropped_documents import find_dropped
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.duplicates import ExactDuplicatesStep, NearDuplicatesStep, Verification
from firth.recipes.corpus.outputs import ParquetOutput
from tests.corpus.duplicates_helpers import (
    EXACT,
    NEAR,
    OF_CHAINS,
    random_words,
    reasons,
    run_steps,
    sizes,
    with_changes,
)
from tests.corpus.helpers import clean, document, read_records
from tests.shared_data import shared_data


def corpus(seed: int = 0) -> list[Document]:
    """Returns 60 texts, of which some have copies, near copies, and chains of near copies."""
    generator = random.Random(seed)
    documents = []
    for i in range(60):
        words = random_words(generator, 104)
        documents.append(document(" ".join(words), f"{i}", "books"))
        if i % 4 == 0:
            documents.append(document(" ".join(with_changes(words, 1)), f"near{i}", "web"))
        if i % 6 == 0:
            documents.append(document(" ".join(words), f"copy{i}", "web"))
        if i % 10 == 0:
            documents += [document(" ".join(link), f"chain{i}_{n}") for n, link in enumerate(chain(words))]
    return generator.sample(documents, len(documents))


def chain(words: list[str], links: int = 5) -> list[list[str]]:
    """Returns texts of which each is like the one before, and the last is not like the first."""
    found = [list(words)]
    for link in range(links):
        found.append(list(found[-1]))
        found[-1][link * 10 + 5] = f"link{link}"
    return found[1:]


def test_a_chain_of_which_the_ends_do_not_meet_leaves_one(tmp_path):
    words = random_words(random.Random(7), 204)
    documents = [document(" ".join(each), f"{n}") for n, each in enumerate([words, *chain(words, 20)])]
    _, buckets = MinHash().buckets([each.text for each in documents])
    assert not (buckets[0] == buckets[-1]).any()
    kept, totals = run_steps(tmp_path, documents, OF_CHAINS, batch=2)
    assert len(kept) == 1
    assert reasons(totals) == {"duplicate": 20}
    assert sizes(totals, "near_duplicates.cluster_sizes") == {21: 1}


def test_the_survivor_is_the_longest_then_of_the_first_source_then_of_the_smallest_id(tmp_path):
    def copies(seed, change=False):
        """Returns documents of two sources with the same text, or with texts of the same length."""
        words = random_words(random.Random(seed), 104)
        return {
            source: [
                document(
                    " ".join([*words[:9], f"{source[0]}{n}", *words[10:]] if change else words), name, source
                )
                for n, name in enumerate(f"{seed} {i}" for i in range(4))
            ]
            for source in ("web", "books")
        }

    def kept(name, by_source, *steps):
        documents = [each for copies in by_source for part in copies.values() for each in part]
        found, _ = run_steps(tmp_path / name, documents, *steps, sources=("web", "books"))
        assert len(found) == len(by_source)
        return {each.uri.partition(" ")[0]: each for each in found}

    first, second = copies(1), copies(2)
    longest = document(first["web"][0].text + " more", "1 longest", "web")
    found = kept("a", [{**first, "longest": [longest]}, second], NEAR)
    assert found == {"1": longest, "2": min(second["web"], key=lambda each: each.id)}
    # Texts that differ in a word are left to the second step.
    exact, near = (
        type_of(kind=kind, source_priority=("books",), **keys)
        for type_of, kind, keys in (
            (ExactDuplicatesStep, "exact_duplicates", {}),
            (NearDuplicatesStep, "near_duplicates", {"rounds": 2}),
        )
    )
    second = copies(2, change=True)
    found = kept("b", [first, second], exact, near)
    assert found == {
        name: min(of["books"], key=lambda each: each.id) for name, of in {"1": first, "2": second}.items()
    }


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory):
    """Returns the documents of each split that are left of a corpus with chains."""
    folder = tmp_path_factory.mktemp("cleaned")
    clean(folder, corpus(), Cleaning(steps=(OF_CHAINS,), split=Split(eval_fraction=0.3)))
    records = {split: read_records(f"{folder}/{split}/*") for split in SPLITS}
    return {split: [Document.from_example(each) for each in part] for split, part in records.items()}


@pytest.mark.repeated
def test_what_survived_survives_again(tmp_path, cleaned):
    left = sorted((each for part in cleaned.values() for each in part), key=lambda each: each.id)
    again, totals = run_steps(tmp_path, left, OF_CHAINS)
    assert again == left and len(left) == 60
    assert not reasons(totals)
    assert not totals.histograms


@pytest.mark.repeated
def test_a_document_read_twice_stays_once(tmp_path):
    twice = [document("The same place, read twice.", "a")] * 2
    for step in (EXACT, NEAR):
        kept, totals = run_steps(tmp_path / step.kind, [*twice, document("Another one.", "b")], step, batch=1)
        assert sorted(each.uri for each in kept) == ["a", "b"]
        assert sizes(totals, f"{step.kind}.cluster_sizes") == {2: 1}


def test_buckets_that_several_share_are_counted_by_size_and_texts_without_words_are_no_duplicates(tmp_path):
    copies = [document("the same five words again and again", f"{n}") for n in range(5)]
    others = [document(" ".join(random_words(random.Random(n), 30)), f"other{n}") for n in range(9)]
    wordless = [document("...", "wordless a"), document("!", "wordless b")]
    kept, totals = run_steps(tmp_path, [*copies, *wordless, *others], NEAR, batch=3, groups=3)
    assert sizes(totals, "near_duplicates.bucket_sizes") == {5: NEAR.buckets}
    assert {each.id for each in wordless} < {each.id for each in kept} and len(kept) == 1 + 2 + 9


def test_no_near_duplicates_lie_across_train_and_eval(cleaned):
    seen: set[int] = set()
    for documents in cleaned.values():
        assert documents
        buckets = set(MinHash().buckets([each.text for each in documents])[1].ravel().tolist())
        assert not seen & buckets
        seen |= buckets


@pytest.mark.repeated
@pytest.mark.needs_data(
    "dedup_fixtures/documents_with_fuzzy_duplicates", twin="test_changed_copies_of_two_texts"
)
def test_licences_of_real_projects(tmp_path):
    folder = shared_data("dedup_fixtures/documents_with_fuzzy_duplicates")
    documents = [document(path.read_text(), path.name) for path in sorted(folder.glob("*.txt"))]
    kept, totals = run_steps(tmp_path, documents, NEAR)
    assert {each.uri for each in kept} == {"pytorch_license.txt", "react_mit_license.txt"}
    assert totals.totals()["near_duplicates", "docs", KEPT] == 2


def test_changed_copies_of_two_texts(tmp_path):
    documents = []
    for name in ("one", "two"):
        words = random_words(random.Random(name), 204)
        copies = [" ".join(with_changes(words, changes)) for changes in range(3)]
        documents += [document(text, f"{name}{number}") for number, text in enumerate(copies)]
        documents.append(document(" ".join([*words, "longest"]), name))
    kept, totals = run_steps(tmp_path, documents, NEAR)
    assert {each.uri for each in kept} == {"one", "two"}
    assert totals.totals()["near_duplicates", "docs", KEPT] == 2


@pytest.mark.parametrize(
    ("form", "verification"), [("records", Verification()), ("parquet", None)], ids=["verified", "as_found"]
)
def test_near_duplicates_of_an_earlier_corpus_go_and_its_document_is_named(tmp_path, form, verification):
    words = [random_words(random.Random(i), 104) for i in range(4)]
    old = [document(" ".join(each), f"{n}", "old") for n, each in enumerate(words[:2])]
    near = [document(" ".join([*with_changes(words[0], 1), *["longer"] * n]), f"near{n}") for n in range(2)]
    # The file of an old document has another text by now.
    changed = dataclasses.replace(document(" ".join(words[2])), id=old[1].id)
    new = document(" ".join(words[3]), "new")
    (tmp_path / "old").mkdir()
    if form == "records":
        write_records(f"{tmp_path}/old", 0, 1, [each.to_example() for each in old])
    else:
        with open(tmp_path / "old" / "a", "wb") as file:
            write_parquet(ParquetOutput(kind="parquet"), file, old, "train")
    step = NearDuplicatesStep(
        kind="near_duplicates", rounds=2, earlier=(f"{tmp_path}/old/*",), verification=verification
    )
    cleaning = Cleaning(steps=(step,), split=Split(eval_fraction=0.5), list_dropped=True)
    clean(tmp_path, [*near, changed, new], cleaning)
    kept = [each for split in SPLITS for each in read_records(f"{tmp_path}/{split}/*")]
    assert {Document.from_example(each).text for each in kept} == {changed.text, new.text}
    for each in near:
        (row,) = find_dropped(f"{tmp_path}/report", each.id, scrubber_for(cleaning))
        assert (row.reason, row.match) == ("in_earlier_corpus", old[0].id)


def test_files_that_hold_no_earlier_documents_are_named(tmp_path):
    for name, content in {"text": b"no documents " * 9, "cut": b"PAR1 and no more"}.items():
        (tmp_path / name).write_bytes(content)
        step = NearDuplicatesStep(kind="near_duplicates", earlier=(f"{tmp_path}/{name}",))
        with pytest.raises(Exception, match=f"near_duplicates: {tmp_path}/{name}"):
            run_steps(tmp_path / f"of_{name}", [document("A whale.")], step)
    step = NearDuplicatesStep(kind="near_duplicates", earlier=(f"{tmp_path}/none*",))
    with pytest.raises(SourceError, match=r"none\*"):
        run_steps(tmp_path / "none", [document("A whale.")], step)
