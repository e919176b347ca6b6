"""Personal data in what is not the text: licences, addresses, names of files, in all that leaves."""

import json

from firth.corpus import SPLITS, Document
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.report.datasheet import datasheet_page, make_datasheet
from firth.recipes.corpus.cleaning import Cleaning, LengthStep, Split
from firth.recipes.corpus.domains import DomainRulesStep
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.helpers import clean, read_records, read_to

MAIL, ADDRESS = "jane.roe@roe.org", "8.8.4.4"
KEYS = {"uri_key": "uri", "licence_key": "licence", "metadata_keys": ("of",)}


def folder_of_records(folder):
    folder.mkdir()
    for name in (f"{MAIL}.jsonl", f"bad {MAIL}.jsonl"):
        lines = [
            {
                "text": f"Page {name} {n} is long.",
                "uri": f"http://{ADDRESS}/{n}?of={MAIL}",
                "licence": f"by x{n}.{MAIL}, {n % 2}",
                "of": {"by": [MAIL]},
            }
            for n in range(20)
        ]
        (folder / name).write_text("\n".join(map(json.dumps, [*lines, {"text": "Short."}])) + "\n{}\n")
    return JsonlSource(kind="jsonl", paths=(f"{folder}/*.jsonl",), licence=f"ask {MAIL}", **KEYS)


def cleaned(tmp_path, *steps):
    """Returns the documents as they are written, and all files of the report with the datasheet."""
    source = folder_of_records(tmp_path / "in")
    documents = read_to(tmp_path / "out", [source])
    assert MAIL in repr(documents)
    rules = DomainRulesStep(kind="domain_rules", each_domain={"max_documents": 30})
    steps = (*steps, LengthStep(kind="length", min_words=2), rules)
    cleaning = Cleaning(steps=steps, split=Split(eval_fraction=0.3))
    report = clean(tmp_path / "out", documents, cleaning)
    sheet = make_datasheet("demo", [source], "f00", "d00", "2026-11-25", report, scrubber_for(cleaning))
    rejected = (tmp_path / "out" / "rejected.jsonl").read_text()
    written = [each for split in SPLITS for each in read_records(f"{tmp_path}/out/{split}/*")]
    page = datasheet_page(sheet) + json.dumps(sheet)
    return list(map(Document.from_example, written)), json.dumps(report), page, rejected


def test_the_step_replaces_them_in_all_that_leaves(tmp_path):
    """With placeholders, as it is by default, also where texts get surrogates."""
    documents, report, page, rejected = cleaned(tmp_path, PiiStep(kind="pii", replacement="surrogate"))
    for made in (repr(documents), report, page, rejected):
        assert MAIL not in made and ADDRESS not in made
    # Steps after it still know the pages by their addresses.
    assert len(documents) == 30 == len({each.id for each in documents})
    licences = {row["licence"]: row["documents_in"] for row in json.loads(report)["licences"]}
    assert licences == {"by <EMAIL>, 0": 20, "by <EMAIL>, 1": 20, "ask <EMAIL>": 2}


def test_without_the_step_only_reports_are_without_them(tmp_path):
    documents, report, page, rejected = cleaned(tmp_path)
    assert MAIL in repr(documents) and ADDRESS in repr(documents)
    for made in (report, page, rejected):
        assert MAIL not in made and ADDRESS not in made
    assert json.loads(rejected.splitlines()[0])["file"].partition("<EMAIL>")[0] in ("", "bad ")


def test_a_key_says_that_they_are_kept(tmp_path):
    documents, report, page, rejected = cleaned(tmp_path, PiiStep(kind="pii", metadata="keep"))
    assert all(MAIL not in each.text and MAIL in each.uri and ADDRESS in each.uri for each in documents)
    assert MAIL in report and MAIL in page
    # Names of files are never shown with them.
    assert MAIL not in rejected
