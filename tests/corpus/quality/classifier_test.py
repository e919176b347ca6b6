import itertools
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.corpus.documents.errors import CorpusError, SourceError
from firth.corpus.documents.tally import DROPPED, KEPT, Count, Flow
from firth.corpus.quality.classifier import keeps
from firth.corpus.quality.hash_sample import join_samples, sample_of
from firth.corpus.quality.quality_model import QualityModel, load_quality_model, save_quality_model
from firth.corpus.quality.quality_training import Examples, train
from firth.corpus.text.hashed_ngrams import Hashing, hash_ngrams, join_vectors
from firth.recipes import RecipeError, load_recipe
from firth.recipes.corpus.classifier import ClassifierStep
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.duplicates_helpers import reasons, run_steps
from tests.corpus.helpers import document

HASHING = Hashing((1, 2), 2**18, 1000)
GOOD = ["the", "captain", "saw", "a", "white", "whale", "rise", "out", "of", "the", "deep", "calm", "sea"]
BAD = ["click", "here", "buy", "cheap", "now", "free", "login", "cart", "offer", "win", "prize", "the", "a"]


def text(words, number, count=30):
    return " ".join(random.Random(f"{words[0]} {number}").choices(words, k=count))


def step(**settings) -> ClassifierStep:
    return ClassifierStep(kind="classifier", **{"reference": ("books",), **settings})


def examples(count=60, bad=BAD) -> Examples:
    texts = [text(bad, n) for n in range(count)] + [text(GOOD, n) for n in range(count, 2 * count)]
    hashes = np.random.default_rng(0).permutation(2 * count).astype(np.uint64)
    return Examples(hashes, np.repeat([0, 1], count).astype(np.int8), hash_ngrams(texts, HASHING))


def corpus(count=40):
    return [
        *(document(text(BAD, n), f"bad{n}", "web") for n in range(count)),
        *(document(text(GOOD, n), f"good{n}", "web") for n in range(count, count + 5)),
        *(document(text(GOOD, n), f"book{n}", "books") for n in range(count)),
        *(document(text(BAD, n), f"code{n}", "code") for n in range(3)),
    ]


@given(st.lists(st.text("ab C.\n", max_size=30), max_size=5))
def test_vectors_count_ngrams_and_do_not_depend_on_other_texts(texts):
    hashing = Hashing((1, 2), 2**28, 20)
    vectors = hash_ngrams(texts, hashing)
    alone = join_vectors([hash_ngrams([each], hashing) for each in texts])
    for part, same in zip(vectors, alone):
        assert part.tolist() == same.tolist()
    for each, start, end in zip(texts, vectors.splits, vectors.splits[1:]):
        words = each[:20].lower().split()
        counts: dict = {}
        for ngram in [*zip(words), *itertools.pairwise(words)]:
            counts[ngram] = counts.get(ngram, 0) + 1
        length = math.sqrt(sum(count**2 for count in counts.values()))
        expected = sorted(count / length for count in counts.values())
        assert sorted(vectors.values[start:end].tolist()) == pytest.approx(expected)


@given(st.lists(st.integers(0, 99), max_size=30), st.integers(1, 5), st.integers(1, 9))
def test_a_sample_is_that_of_the_smallest_hashes_however_batched(hashes, batch, size):
    parts = [
        sample_of(np.array(hashes[i : i + batch], np.uint64), size) for i in range(0, len(hashes), batch)
    ]
    sample = join_samples(parts, size)
    assert sample.seen == len(hashes)
    assert sample.hashes.tolist() == sorted(set(hashes))[:size]
    assert sample.has(np.array(hashes, np.uint64)).tolist() == [
        each in set(sample.hashes.tolist()) for each in hashes
    ]


def test_measures_are_of_held_out_documents_alone():
    model, measures = train(examples(), HASHING, 1.0, 0.1)
    assert measures["trained"] == {"crawl": 54, "reference": 54}
    assert measures["held_out"] == {"crawl": 6, "reference": 6}
    assert measures["auc"] == 1.0 and measures["converged"]
    # The first of each side by hash.
    drawn = examples()
    out = [place for side in (0, 1) for place in by_hash(drawn, side)[:6]]
    scores = model.scores(drawn.vectors)[out]
    roc = measures["roc"]
    for score, crawl, reference in zip(roc["score"], roc["crawl"], roc["reference"]):
        assert (crawl, reference) == ((scores[:6] >= score).sum(), (scores[6:] >= score).sum())
    assert roc["crawl"][0] == 6 and roc["crawl"][-1] == 0


def by_hash(drawn, side):
    members = np.flatnonzero(drawn.sides == side)
    return members[np.argsort(drawn.hashes[members])].tolist()


def test_the_area_is_that_of_pairs_and_a_half_where_sides_are_alike():
    drawn = examples(200, bad=GOOD)
    model, measures = train(drawn, HASHING, 1.0, 0.4)
    scores = model.scores(drawn.vectors)
    crawl, reference = (scores[by_hash(drawn, side)[:80]] for side in (0, 1))
    pairs = np.sign(reference[:, None] - crawl[None]) / 2 + 0.5
    assert measures["auc"] == pytest.approx(pairs.mean())
    assert 0.35 < measures["auc"] < 0.65


def test_examples_in_another_order_and_twice_make_the_same_model():
    drawn = examples()
    places = [*np.random.default_rng(1).permutation(len(drawn.hashes)).tolist(), 3, 77]
    rows = [slice(drawn.vectors.splits[place], drawn.vectors.splits[place + 1]) for place in places]
    vectors = drawn.vectors._replace(
        splits=np.cumsum([0, *(each.stop - each.start for each in rows)]),
        buckets=np.concatenate([drawn.vectors.buckets[each] for each in rows]),
        values=np.concatenate([drawn.vectors.values[each] for each in rows]),
    )
    first = train(drawn, HASHING, 1.0, 0.1)
    second = train(Examples(drawn.hashes[places], drawn.sides[places], vectors), HASHING, 1.0, 0.1)
    assert first[1] == second[1]
    assert first[0].weights.tobytes() == second[0].weights.tobytes()


def test_a_saved_model_scores_the_same_and_nothing_is_unpickled(tmp_path):
    model, measures = train(examples(), HASHING, 1.0, 0.1)
    save_quality_model(model, measures, str(tmp_path))
    loaded = load_quality_model(str(tmp_path))
    vectors = hash_ngrams(["a white whale", "buy cheap now", ""], HASHING)
    assert loaded.hashing == HASHING
    assert loaded.scores(vectors).tolist() == model.scores(vectors).tolist()
    assert loaded.scores(vectors)[0] > 0.5 > loaded.scores(vectors)[1]
    save_quality_model(QualityModel(HASHING, model.weights[:5], 0.0), {}, str(tmp_path))
    with pytest.raises(CorpusError, match=r"\(5,\) for 262144 buckets"):
        load_quality_model(str(tmp_path))
    np.savez(tmp_path / "weights.npz", weights=np.array([{}], object), bias=0.0)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load_quality_model(str(tmp_path))


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
    kept, tally = run_steps(tmp_path, corpus(), config, sources=("web", "books", "code"))
    uris = {each.uri for each in kept}
    assert uris >= {f"book{n}" for n in range(40)} | {f"code{n}" for n in range(3)}
    assert not any(uri.startswith("bad") for uri in uris)
    assert uris >= {f"good{n}" for n in range(40, 45)}
    assert reasons(tally) == {"low_score": 40}
    assert tally.counts == {
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
    _, tally = run_steps(tmp_path, corpus(), config)
    report = json.loads((tmp_path / "classifier.json").read_text())
    assert (report["crawl"], report["reference"]) == ({"documents": 88}, {"documents": 60})
    assert report["trained"] == report["held_out"] | {"crawl": 15, "reference": 15}
    assert tally.documents[Flow("classifier", "web", DROPPED, "low_score")] > 35
    assert tally.documents[Flow("classifier", "books", KEPT)] > 35
    with path.open("a") as file:
        file.write('{"text": \n')
    with pytest.raises(SourceError, match=r"'reference web'.*good\.jsonl:61: malformed_json"):
        run_steps(tmp_path / "again", corpus(), config)


def test_too_little_to_learn_from_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match="step 'classifier': 1 documents of the reference to learn from"):
        run_steps(tmp_path, [*corpus()[:9], document("One.", "b", "books")], step())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            "reference: [boks]",
            r"my\.yaml:7:7: cleaning.*: no source is named 'boks'; did you mean books",
        ),
        ("reference: [books, web]", r"my\.yaml:7:7: .*reference: names all sources"),
        ("reference: [books]\n      crawl: [books]", "crawl: 'books' is a reference too"),
        ("crawl: [books]", "name a source under reference"),
    ],
)
def test_a_recipe_that_names_what_is_not_there(tmp_path, settings, said):
    path = tmp_path / "my.yaml"
    path.write_text(f"""extends: bert_tiny
sources:
  - {{kind: text, name: books, paths: [a]}}
  - {{kind: text, name: web, paths: [b]}}
cleaning: {{
  steps: [{{kind: classifier,
      {settings.replace(chr(10), ",")} }}]}}
""")
    with pytest.raises(RecipeError, match=said):
        load_recipe(path)
