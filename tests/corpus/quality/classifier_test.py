import json
import math

import numpy as np
import pytest

from firth.corpus.documents.corpus_counts import DROPPED, KEPT, Count, Flow
from firth.corpus.documents.errors import CorpusError, SourceError
from firth.corpus.quality.classifier import keeps
from firth.corpus.quality.quality_model import hash_ngrams, load_quality_model
from firth.recipes.corpus.classifiers import ClassifierStep
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.duplicates_helpers import reasons, run_steps
from tests.corpus.helpers import document
from tests.corpus.quality.texts import BAD, GOOD, text


def step(**settings) -> ClassifierStep:
    return ClassifierStep(kind="classifier", **{"reference": ("books",), **settings})


def corpus(count=40):
    return [
        *(document(text(BAD, n), f"bad{n}", "web") for n in range(count)),
        *(document(text(GOOD, n), f"good{n}", "web") for n in range(count, count + 5)),
        *(document(text(GOOD, n), f"book{n}", "books") for n in range(count)),
        *(document(text(BAD, n), f"code{n}", "code") for n in range(3)),
    ]


@pytest.mark.parametrize("score", [0.2, 0.8, 0.95, 1.0])
def test_the_pareto_rule_keeps_as_many_as_that_of_gpt_3(score):
    config, ids = step(alpha=9.0), [f"{number:x}" for number in range(4000)]
    kept = sum(keeps(score, id, config) for id in ids)
    draws = np.random.default_rng(0).pareto(9.0, 4000)
    expected = 4000 * (2.0 - score) ** -9.0
    assert abs(kept - expected) < 4 * math.sqrt(expected)
    assert abs(kept - (draws > 1.0 - score).sum()) < 6 * math.sqrt(expected)
    other = step(alpha=9.0, seed=1)
    assert score == 1.0 or [keeps(score, id, other) for id in ids] != [keeps(score, id, config) for id in ids]


def test_the_crawl_is_judged_and_nothing_else(tmp_path):
    config = step(crawl=("web",), keep="threshold", threshold=0.5)
    kept, totals = run_steps(tmp_path, corpus(), config, sources=("web", "books", "code"))
    uris = {each.uri for each in kept}
    assert uris >= {f"book{n}" for n in range(40)} | {f"code{n}" for n in range(3)}
    assert not any(uri.startswith("bad") for uri in uris)
    assert uris >= {f"good{n}" for n in range(40, 45)}
    assert reasons(totals) == {"low_score": 40}
    assert totals.counts == {
        Count("classifier", "books", "reference"): 40,
        Count("classifier", "code", "other_source"): 3,
    }
    report = json.loads((tmp_path / "classifier.json").read_text())
    assert (report["crawl"], report["reference"]) == ({"documents": 45}, {"documents": 40})
    assert report["trained"] == {"crawl": 40, "reference": 36}
    assert report["held_out"] == {"crawl": 5, "reference": 4}
    assert report["auc"] > 0.7 and (report["keep"], report["threshold"]) == ("threshold", 0.5)
    books, web = report["scores"]["sources"]
    assert (books["source"], sum(books["kept"]), sum(books["dropped"])) == ("books", 40, 0)
    assert web["dropped"][10:] == [0] * 10 and sum(web["dropped"]) == 40 and sum(web["kept"]) == 5
    model = load_quality_model(f"{tmp_path}/classifier")
    assert model.scores(hash_ngrams([text(BAD, 0)], model.hashing))[0] < 0.5


def test_files_may_be_the_reference_and_the_sample_is_bounded(tmp_path, monkeypatch):
    # Which documents are learnt from depends on their ids, and these on the path.
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "good.jsonl"
    path.write_text("".join(json.dumps({"text": text(GOOD, n)}) + "\n" for n in range(60)))
    # The name of a source of the corpus is not that source.
    files = (JsonlSource(kind="jsonl", name="web", paths=(path.name,)),)
    settings = {"max_documents": 20, "held_out_fraction": 0.25, "keep": "threshold"}
    config = step(reference=(), reference_files=files, **settings)
    _, totals = run_steps(tmp_path, corpus(), config)
    report = json.loads((tmp_path / "classifier.json").read_text())
    assert (report["crawl"], report["reference"]) == ({"documents": 88}, {"documents": 60})
    assert report["trained"] == report["held_out"] | {"crawl": 15, "reference": 15}
    assert totals.documents[Flow("classifier", "web", DROPPED, "low_score")] > 35
    assert totals.documents[Flow("classifier", "books", KEPT)] > 35
    with path.open("a") as file:
        file.write('{"text": \n')
    with pytest.raises(SourceError, match=r"'reference web'.*good\.jsonl:61: malformed_json"):
        run_steps(tmp_path / "again", corpus(), config)


def test_too_little_to_learn_from_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match=r"'classifier': 1 .*reference"):
        run_steps(tmp_path, [*corpus()[:9], document("One.", "b", "books")], step())
