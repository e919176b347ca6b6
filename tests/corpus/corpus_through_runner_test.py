"""Nothing of a corpus' text or tokens goes through the runner, which would have to hold it in memory."""

import json
import random

import pytest
from apache_beam.runners.portability.fn_api_runner import execution

from firth.corpus import SPLITS, count_corpus_words, make_sequences, train_tokenizer
from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import CorpusStep
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.mixture import WeightedMixture
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from tests.corpus.duplicates_helpers import random_words
from tests.corpus.helpers import clean, document, make_pipeline
from tests.corpus.quality.models import fasttext_step, scikit_learn_step

DOCUMENTS, WORDS = 20, 8_000
# By kind of step, what it must be given. The classifier's sample and weights, which are bounded, are small.
SMALL = {"max_documents": 4, "max_characters": 200, "buckets": 2**10}
SETTINGS = {
    "classifier": {"reference": ["books"], "keep": "threshold", "threshold": 0.0, **SMALL},
    "domain_rules": {"each_domain": {"max_documents": 10}},
    # Each round moves links of the same size again.
    "near_duplicates": {"rounds": 1},
}
KINDS = sorted(kind for kind, factory in STEPS.items() if issubclass(factory, CorpusStep))


@pytest.fixture
def moved(monkeypatch):
    """The sizes of all that goes into the runner's buffers."""
    sizes = []
    for buffer in (execution.ListBuffer, execution.GroupingBuffer):

        def append(self, data, append=buffer.append):
            sizes.append(len(data))
            append(self, data)

        monkeypatch.setattr(buffer, "append", append)
    return sizes


@pytest.fixture(scope="module")
def documents():
    generator = random.Random(0)
    return [
        document(" ".join(random_words(generator, WORDS)), str(i), "books" if i % 2 else "web")
        for i in range(DOCUMENTS)
    ]


@pytest.fixture(scope="module")
def benchmark_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("benchmark") / "quiz.jsonl"
    path.write_text(json.dumps({"text": " ".join(random_words(random.Random("quiz"), 20))}))
    return {"kind": "jsonl", "name": "quiz", "paths": [str(path)]}


@pytest.fixture(scope="module")
def of_files(tmp_path_factory, benchmark_file):
    """The values of steps that name files, by kind of step."""
    folder = tmp_path_factory.mktemp("model")
    models = [fasttext_step(threshold=0.0), scikit_learn_step(folder, threshold=0.0)]
    return {
        "decontaminate": {"benchmarks": [benchmark_file]},
        "dataset_duplicates": {"benchmarks": [benchmark_file], "rounds": 1},
        **{step.kind: step.model_dump(mode="json", exclude_unset=True) for step in models},
    }


def test_cleaning_moves_rows_and_no_text(tmp_path, documents, of_files, moved):
    """All kinds of steps together move less than one of them would that moved its texts."""
    steps = [{"kind": kind, **SETTINGS.get(kind, {}), **of_files.get(kind, {})} for kind in KINDS]
    cleaning = Cleaning.model_validate_json(
        json.dumps({"steps": steps, "split": Split(eval_fraction=0.2).model_dump()})
    )
    report = clean(tmp_path, documents, cleaning)
    assert 0 < sum(moved) < sum(each.size for each in documents) / 5
    assert sum(row["documents"] for row in report["splits"]) == DOCUMENTS


@pytest.mark.parametrize(
    "is_mixed", [pytest.param(False, marks=pytest.mark.repeated), True], ids=["as_is", "mixed"]
)
def test_packing_moves_no_tokens_of_train(tmp_path, documents, moved, is_mixed):
    short = [each.with_text(each.text[:20_000]) for each in documents]
    clean(tmp_path, short, Cleaning(steps=(), split=Split(eval_fraction=0.05)))
    config = WordPieceTokenizerConfig(vocabulary_size=300)
    counts = count_corpus_words(make_pipeline, f"{tmp_path}/train/*", config, str(tmp_path))
    train_tokenizer(counts, config, f"{tmp_path}/tokenizer")
    weights = {"books": 1.0, "web": 3.0}
    mixed = {"mixture": WeightedMixture(kind="weights", weights=weights), "sources": list(weights)}
    moved.clear()
    packed = make_sequences(
        make_pipeline,
        {split: f"{tmp_path}/{split}/*" for split in SPLITS},
        f"{tmp_path}/tokenizer",
        Sequences(length=64),
        3,
        61,
        {split: f"{tmp_path}/rows/{split}" for split in SPLITS},
        str(tmp_path),
        **(mixed if is_mixed else {}),
    )
    # Those of eval, which are few, go from one worker to another to find negatives.
    of_eval = packed["eval"]["tokens"]
    assert packed["train"]["tokens"] > 5 * of_eval
    assert 0 < sum(moved) < 40 * of_eval + packed["train"]["tokens"] / 5
