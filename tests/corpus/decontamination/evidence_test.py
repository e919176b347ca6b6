from firth.corpus.decontamination.evidence import (
    FOLDER,
    CorpusEvidence,
    copy_found,
    list_found_ngrams,
    read_evidence,
    write_evidence,
)
from tests.corpus.decontamination.made_evidence import found_ngrams


def test_what_was_found_goes_from_bundle_to_bundle(tmp_path):
    for step, text in (("decontaminate", "one two three"), ("decontaminate_2", "four five six")):
        found_ngrams([text], [text], step=step).save(tmp_path / "report")
    (tmp_path / "report" / "decontaminate.json").write_text("{}")
    copy_found(tmp_path / "report", tmp_path / "rows")
    files = list_found_ngrams(tmp_path / "rows" / FOLDER)
    write_evidence(tmp_path / "first", [CorpusEvidence("minilm", ()), CorpusEvidence("mine", files)])
    (unknown, mine) = read_evidence(tmp_path / "first")
    assert unknown == ("minilm", ())
    # A run that continues has the corpora of its base, and one of its own with a step of the same name.
    write_evidence(tmp_path / "second", [unknown, mine, CorpusEvidence("news", files[1:])])
    carried = read_evidence(tmp_path / "second")
    assert [(each.model, [found.step for found in each.load()]) for each in carried] == [
        ("minilm", []),
        ("mine", ["decontaminate", "decontaminate_2"]),
        ("news", ["decontaminate_2"]),
    ]


def test_nothing_is_carried_where_nobody_looked(tmp_path):
    (tmp_path / "report").mkdir()
    copy_found(tmp_path / "report", tmp_path / "rows")
    write_evidence(tmp_path / "bundle", [CorpusEvidence("minilm", ())])
    assert read_evidence(tmp_path / "bundle") == [] and [each.name for each in tmp_path.iterdir()] == [
        "report"
    ]
