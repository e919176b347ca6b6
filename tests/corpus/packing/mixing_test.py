import dataclasses
import json
import math
import operator
import pickle
import random
from collections import Counter

import apache_beam as beam
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.corpus.documents.errors import MixtureError
from firth.corpus.documents.hashing import hash63
from firth.corpus.grouping.values import Values
from firth.corpus.io.json_files import write_json
from firth.corpus.packing import mixing
from firth.corpus.packing.mixing import Mix, measure
from firth.corpus.packing.mixture_plan import Cut, Share, plan_mixture
from firth.corpus.packing.mixture_report import build_mixture_report, check_mixture
from firth.corpus.packing.pack_rows import pack_rows
from firth.corpus.packing.tokenization import TokenizedDocument
from firth.recipes import RecipeError, load_recipe
from firth.recipes.corpus.mixture import ProportionalMixture, WeightedMixture
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.corpus.duplicates_helpers import make_pipeline_of_two_processes
from tests.corpus.helpers import make_pipeline, read_records

WEIGHTS = {"web": 3.0, "books": 2.0, "code": 0.5, "old": 0.0}
SIZES = {"web": 3000, "books": 500, "code": 1500, "old": 20}


def weighted(weights=WEIGHTS, **settings) -> WeightedMixture:
    return WeightedMixture(kind="weights", weights=weights, **settings)


def sized(**settings) -> ProportionalMixture:
    return ProportionalMixture(kind="proportional", **settings)


TWO = {"web": 3.0, "books": 1.0}
PLANS = [
    # Each document at least once, and no source more often than it may.
    (weighted(TWO), {"web": 900, "books": 100}, {"web": 900, "books": 300}),
    (weighted(TWO), {"web": 9000, "books": 100}, {"web": 1200, "books": 400}),
    (weighted(TWO, max_repeats_of={"books": 2.5}), {"web": 9000, "books": 100}, {"web": 750, "books": 250}),
    (weighted(TWO, total=100), {"web": 900, "books": 100}, {"web": 75, "books": 25}),
    (
        weighted(TWO, total=5000, on_exhausted="shrink"),
        {"web": 9000, "books": 100},
        {"web": 1200, "books": 400},
    ),
    (
        weighted(TWO, total=5000, on_exhausted="renormalize"),
        {"web": 9000, "books": 100},
        {"web": 4600, "books": 400},
    ),
    (weighted(TWO, on_exhausted="renormalize"), {"web": 9000}, {"web": 9000, "books": 0}),
    (sized(), {"web": 9000, "books": 1000}, {"web": 9000, "books": 1000}),
    (sized(temperature=2.0), {"web": 9000, "books": 1000}, {"web": 9000, "books": 3000}),
    (sized(limit=3000), {"web": 9000, "books": 1000}, {"web": 9000, "books": 3000}),
    (sized(total=600, limit=1), {"web": 9000, "books": 1000}, {"web": 300, "books": 300}),
]  # fmt: skip


@pytest.mark.parametrize(("mixture", "available", "amounts"), PLANS)
def test_plans_by_hand(mixture, available, amounts):
    shares = plan_mixture(mixture, available, ["web", "books"])
    assert {share.source: share.amount for share in shares} == amounts
    total = sum(amounts.values())
    assert [share.planned for share in shares] == pytest.approx(
        [amount / total for amount in amounts.values()]
    )


@pytest.mark.parametrize(
    ("mixture", "available", "said"),
    [
        (weighted(TWO, total=5000), {"web": 9000, "books": 100}, "takes 1,250 .*'books'.* 400 .* 1600"),
        (weighted(TWO), {"web": 9000}, "source 'books' has no tokens left"),
        (weighted(TWO, on_exhausted="shrink"), {"web": 9000}, "source 'books' has no tokens left"),
        (sized(), {"web": 9000}, "source 'books' has no tokens left"),
        (weighted(TWO), {"web": 9, "books": 9, "code": 9}, "mixture.weights: none for the source 'code'"),
        (weighted({**TWO, "boks": 1.0}), {"web": 9, "books": 9}, "weights.boks: .* did you mean books"),
        (sized(on_exhausted="renormalize"), {}, "nothing is left"),
    ],
)  # fmt: skip
def test_what_a_source_has_not_is_an_error(mixture, available, said):
    with pytest.raises(MixtureError, match=said):
        plan_mixture(mixture, available, ["web", "books"])


NAMES = st.sampled_from(["web", "books", "code"])


@given(
    st.dictionaries(NAMES, st.floats(0.1, 9.0), min_size=3),
    st.dictionaries(NAMES, st.integers(1, 10**6), min_size=3),
    st.integers(1, 10**7) | st.none(),
    st.sampled_from(["renormalize", "shrink"]),
)
def test_a_plan_keeps_to_caps_and_says_where_it_is_not_what_was_asked(weights, sizes, total, on_exhausted):
    shares = plan_mixture(weighted(weights, total=total, on_exhausted=on_exhausted), sizes, [])
    taken = sum(share.amount for share in shares)
    assert all(share.amount <= 4 * share.available for share in shares)
    assert math.isclose(sum(share.planned for share in shares), 1.0)
    if on_exhausted == "shrink" or not any(share.exhausted for share in shares):
        assert [share.planned for share in shares] == pytest.approx([share.asked for share in shares])
    if total and not any(share.exhausted for share in shares):
        assert abs(taken - total) <= 2
    if not total and on_exhausted == "shrink":
        whole = all(share.amount >= share.available - 1 for share in shares)
        assert whole or any(share.amount >= 4 * share.available - 1 for share in shares)


def corpus() -> list[TokenizedDocument]:
    generator = random.Random(5)
    documents = []
    for source, count in SIZES.items():
        for number in range(count):
            tokens = np.zeros(generator.randint(1, 60), np.int32)
            starts = np.ones(len(tokens), bool)
            size = generator.randint(1, 400)
            key = hash63(source, str(number))
            documents.append(TokenizedDocument(key, source, tokens, starts, starts, None, size))
    return documents


def mix(path, documents, mixture, batch=100, pipeline=make_pipeline):
    parts = [pickle.dumps(documents[i : i + batch]) for i in range(0, len(documents), batch)]
    groups = [(i, Values([("documents", part)])) for i, part in enumerate(parts)]
    path.mkdir()
    with pipeline() as p:
        mixed, cuts, counts = p | beam.Create(groups) | Mix(mixture, list(WEIGHTS))
        # Nothing of this module, which workers of their own would take seconds to import.
        records = {
            "mixed": mixed | beam.Map(operator.itemgetter(1)) | "PickleMixed" >> beam.Map(pickle.dumps),
            "cuts": cuts | "PickleCuts" >> beam.Map(pickle.dumps),
            "counts": counts | "PickleCounts" >> beam.Map(pickle.dumps),
        }
        for name, values in records.items():
            _ = values | f"Write[{name}]" >> beam.io.WriteToTFRecord(f"{path}/{name}", file_name_suffix=".gz")
    parts, (cuts,), counts = (
        [pickle.loads(each) for each in read_records(f"{path}/{name}-*")] for name in records
    )
    return [each for part in parts for each in part], cuts, sum(map(Counter, counts), Counter())


@pytest.mark.parametrize("unit", ["documents", "bytes", "tokens"])
def test_measured_proportions_are_those_asked_for(tmp_path, unit):
    documents, mixture = corpus(), weighted(unit=unit)
    mixed, cuts, counts = mix(tmp_path / "mixed", documents, mixture)
    measured = measure(mixed)
    total = sum(amount for (_, each), amount in measured.items() if each == unit)
    for source, weight in WEIGHTS.items():
        assert measured[source, unit] / total == pytest.approx(weight / 5.5, rel=0.01)
    check_mixture(build_mixture_report(measured, cuts, mixture))
    times = Counter(each.key for each in mixed)
    for source in WEIGHTS:
        of_source = [times[each.key] for each in documents if each.source == source]
        assert max(of_source) - min(of_source) <= 1 and max(of_source) <= 4
    assert {(each.key, each.copy) for each in mixed} == {
        (key, copy) for key, count in times.items() for copy in range(count)
    }
    assert len(mixed) == len(documents) - counts["left_out_documents"] + counts["repeated_documents"]


def test_order_batches_bins_and_processes_change_nothing(tmp_path, monkeypatch):
    documents, mixture = corpus()[2500:4500], sized(temperature=2.0, on_exhausted="renormalize")

    def run(name, documents, batch, pipeline=make_pipeline, mixture=mixture):
        mixed, cuts, counts = mix(tmp_path / name, documents, mixture, batch, pipeline)
        return sorted((each.key, each.copy) for each in mixed), cuts, counts

    first = run("1", documents, 100)
    shuffled = random.Random(3).sample(documents, len(documents))
    assert run("2", shuffled, 700, make_pipeline_of_two_processes) == first
    other = run("3", documents, 100, mixture=mixture.model_copy(update={"seed": 1}))
    assert other[0] != first[0]
    # Half of each source is in the bin that is looked at again, as a far larger source's would be.
    monkeypatch.setattr(mixing, "BIN_BITS", 1)
    assert run("4", documents, 100) == first


def test_a_row_holds_no_document_beside_its_repeat():
    sizes = random.Random(2).choices(range(1, 12), k=60)
    documents = [
        TokenizedDocument(key, "web", np.zeros(size, np.int32), np.ones(size, bool), np.ones(size, bool))
        for key, size in enumerate(sizes)
    ]
    repeats = [dataclasses.replace(each, copy=copy) for copy in range(3) for each in documents]
    rows, counts = pack_rows(repeats, Sequences(length=24, max_documents=8), 2, 22)
    keys = [row.lists["document_keys"] for row in rows]
    assert all(len(set(each)) == len(each) for each in keys)
    assert Counter(key for each in keys for key in each) == dict.fromkeys(range(60), 3)
    assert len({row.example_id for row in rows}) == len(rows) and counts["documents"] == 180
    once, _ = pack_rows(documents, Sequences(length=24, max_documents=8), 2, 22)
    assert {row.example_id for row in once} < {row.example_id for row in rows}


def report_of(amount: int, largest: int) -> dict:
    shares = [
        (Share("web", 100, 0.5, 0.5, 50, False), Cut(0, 5, 1)),
        (Share("books", 100, 0.5, 0.5, 50, False), Cut(0, 5, largest)),
    ]
    return build_mixture_report({("web", "tokens"): 50, ("books", "tokens"): amount}, shares, weighted(TWO))


def test_a_deviation_is_an_error_unless_documents_are_too_large(tmp_path):
    check_mixture(report_of(50, 1))
    row = report_of(60, 10)["sources"][1]
    assert (row["within_tolerance"], row["too_coarse"]) == (False, True)
    assert row["measured"] == 60 / 110 and row["deviation"] == pytest.approx(0.0909, abs=1e-4)
    check_mixture(report_of(60, 10))
    with pytest.raises(MixtureError, match=r"source 'books' is 0\.5455 .* planned was 0\.5000"):
        check_mixture(report_of(60, 9))
    write_json(str(tmp_path / "report.json"), report_of(60, 10))
    assert json.loads((tmp_path / "report.json").read_text()) == report_of(60, 10)


@pytest.mark.parametrize(
    ("mixture", "said"),
    [
        (
            "{kind: weights, weights: {boks: 1, web: 1}}",
            r"6:\d+: mixture\.weights\.boks: .* mean books\?",
        ),
        (
            "{kind: weights, weights: {web: 1}}",
            "mixture.weights: none for the source 'books'; 0 leaves it out",
        ),
        ("{kind: weights, weights: {web: 0, books: 0}}", "none is above 0"),
        ("{kind: proportional, max_repeats_of: {Web: 2}}", r"mixture\.max_repeats_of\.Web: .* web"),
        ("{kind: proportional, temprature: 2}", "did you mean temperature"),
        ("{kind: proportional, temperature: 0}", "greater than 0"),
    ],
)
def test_a_recipe_that_cannot_be_mixed(tmp_path, mixture, said):
    path = tmp_path / "my.yaml"
    path.write_text(f"""extends: bert_tiny
sources:
  - {{kind: text, name: books, paths: [a]}}
  - {{kind: text, name: web, paths: [b]}}

mixture: {mixture}
""")
    with pytest.raises(RecipeError, match=said):
        load_recipe(path)
