from firth.corpus.decontamination.evidence import CorpusEvidence, HeldOutSearch, list_found_ngrams
from tests.corpus.decontamination.made_evidence import found_ngrams


def test_records_are_found_in_any_corpus_and_counted_once(tmp_path):
    both, first, second, clean = ("a b c d", "e f g h", "i j k l", "m n o p")
    examples = [both, first, second, clean]
    found_ngrams(examples, [both, first]).save(tmp_path / "one")
    found_ngrams(examples, [both, second], size=4, action="drop").save(tmp_path / "two")
    corpora = [CorpusEvidence(name, list_found_ngrams(tmp_path / name)) for name in ("none", "one", "two")]
    search = HeldOutSearch(corpora)
    assert search.find([both, first, second], ["", "", ""]).tolist() == [True, True, True]
    assert search.find([clean, "q r", "s t u v"], ["", "", ""]).tolist() == [False, False, False]
    report = search.report()
    counts = {"records": 6, "found": 3, "too_short": 1, "not_searched": 1}
    assert {name: report[name] for name in counts} == counts
    steps = [[(each["found"], each["action"]) for each in corpus["steps"]] for corpus in report["corpora"]]
    assert steps == [[], [(2, "keep")], [(2, "drop")]]


def test_a_label_that_was_looked_for_counts_and_makes_no_short_text_long(tmp_path):
    found_ngrams(["an article of words the summary of it"], ["the summary of it"]).save(tmp_path)
    search = HeldOutSearch([CorpusEvidence("mine", list_found_ngrams(tmp_path))])
    assert search.find(["an article of words"], ["the summary of it"]).tolist() == [True]
    assert search.find(["two words"], ["yes"]).tolist() == [False]
    assert search.report()["too_short"] == 1


def test_without_corpora_nothing_is_known():
    assert HeldOutSearch([]).report() == {}
