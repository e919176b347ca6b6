import operator
import pickle
import random
from collections import Counter

import apache_beam as beam
import numpy as np
import pytest

from firth.corpus.documents.hashing import hash63
from firth.corpus.grouping.values import Values
from firth.corpus.packing import mixing
from firth.corpus.packing.mixing import Mix, build_mixture_report, check_mixture, measure
from firth.corpus.packing.tokenization import TokenizedDocument
from tests.corpus.duplicates_helpers import read_pickles, write_pickles
from tests.corpus.helpers import make_pipeline, make_pipeline_of_two
from tests.corpus.packing.mixtures import WEIGHTS, sized, weighted

SIZES = {"web": 1500, "books": 250, "code": 750, "old": 20}


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
        made = {"mixed": mixed | beam.Map(operator.itemgetter(1)), "cuts": cuts, "counts": counts}
        for name, values in made.items():
            write_pickles(values, path, name)
    parts, (cuts,), counts = (read_pickles(path, name) for name in made)
    return [each for part in parts for each in part], cuts, sum(map(Counter, counts), Counter())


# Bytes are looked up as tokens are.
@pytest.mark.parametrize("unit", ["documents", "tokens"])
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


@pytest.mark.repeated
def test_order_batches_bins_and_workers_change_nothing(tmp_path, monkeypatch):
    documents, mixture = corpus()[1250:1950], sized(temperature=2.0, on_exhausted="renormalize")

    def run(name, documents, batch, pipeline=make_pipeline, mixture=mixture):
        mixed, cuts, counts = mix(tmp_path / name, documents, mixture, batch, pipeline)
        return sorted((each.key, each.copy) for each in mixed), cuts, counts

    first = run("1", documents, 100)
    shuffled = random.Random(3).sample(documents, len(documents))
    other = run("3", documents, 100, mixture=mixture.model_copy(update={"seed": 1}))
    assert other[0] != first[0]
    # Half of each source is in the bin that is looked at again, as a far larger source's would be.
    monkeypatch.setattr(mixing, "BIN_BITS", 1)
    of_large_bins = run("2", shuffled, 300, make_pipeline_of_two)
    # A limit between the same two hashes may be another number.
    assert (of_large_bins[0], of_large_bins[2]) == (first[0], first[2])
