"""A cleaning that was killed continues with the files that it had not cleaned, to the same corpus."""

import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal

import pytest

from firth.corpus import SPLITS, Document, curate
from firth.corpus.documents.document import document_id
from firth.corpus.filters.length import Length
from firth.corpus.io.records import write_records
from firth.recipes.corpus.cleaning import Cleaning, LengthStep, Split
from tests.corpus.helpers import STEPS, make_pipeline, make_pipeline_of_two, random_text

FILES, IN_EACH = 4, 30
# A step before the one that compares documents, and one after it.
CLEANING = Cleaning(
    steps=(*STEPS, LengthStep(kind="length", min_words=4)),
    split=Split(eval_fraction=0.3),
    list_dropped=True,
    measure="reached",
)


def curated(corpus, out, cleaning=None, pipeline=make_pipeline):
    """Returns the report of a cleaning, whose results of each file are kept in the folder `results`."""
    return curate(
        pipeline,
        corpus,
        f"{corpus}/in/*",
        cleaning or CLEANING,
        {split: f"{out}/{split}" for split in SPLITS},
        f"{out}/report",
        f"{corpus}/results",
    )


def clean_until_killed(corpus, out):
    """Kills its process where the step `length` has looked at 75 texts."""
    decide, seen = Length.decide, []

    def decide_or_die(step, each):
        seen.append(each)
        if len(seen) > 75:
            os.kill(os.getpid(), signal.SIGKILL)
        return decide(step, each)

    Length.decide = decide_or_die
    curated(corpus, out)


def made(folder):
    """The bytes of all that a cleaning writes, by path."""
    paths = [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.suffix != ".json"}


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Files of documents, some with the same stated id, and the number that a killed cleaning has cleaned."""
    folder = tmp_path_factory.mktemp("killed")
    chance = random.Random(3)
    for file in range(FILES):
        texts = [random_text(chance, chance.choice((1, 2, 3, 9, 20))) for _ in range(IN_EACH)]
        # Two records state the same id.
        ids = [document_id("docs", f"{file}-{i}", f"{file}-{i // 2}") for i in range(IN_EACH)]
        documents = [Document(each, text, "docs", "CC0", each) for each, text in zip(ids, texts)]
        write_records(f"{folder}/in", file, FILES, [each.to_example() for each in documents])
    flow = {"step": "read", "source": "docs", "reason": "", "bytes": 0, "words": 0}
    flows = [{**flow, "outcome": outcome, "documents": FILES * IN_EACH} for outcome in ("in", "kept")]
    source = {"name": "docs", "kind": "jsonl", "licence": "CC0", "states_ids": True}
    counts = {"sources": [source], "flows": flows, "unstated": [], "counts": []}
    (folder / "source_counts.json").write_text(json.dumps(counts))
    process = multiprocessing.get_context("fork").Process(
        target=clean_until_killed, args=(str(folder), f"{folder}/killed")
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    left = len([*folder.rglob("results/*/*.gz")])
    assert 1 <= left < FILES
    return folder, left


@pytest.fixture
def corpus(killed, tmp_path):
    """A copy of the corpus, with the results that the killed cleaning has left."""
    return str(shutil.copytree(killed[0], tmp_path / "copy"))


@pytest.fixture
def decided(monkeypatch):
    """The texts that the step `length` has looked at."""
    seen, decide = [], Length.decide
    monkeypatch.setattr(Length, "decide", lambda step, each: (seen.append(each.id), decide(step, each))[1])
    return seen


def test_a_killed_cleaning_continues_with_the_other_files(killed, corpus, decided):
    left = killed[1]
    continued = curated(corpus, f"{corpus}/continued", pipeline=make_pipeline_of_two)
    after_comparing = next(row["documents_in"] for row in continued["funnel"] if row["step"] == "length_2")
    by_kill, seen = len(decided) - after_comparing, set(decided)
    decided.clear()
    in_peace = curated(corpus, f"{corpus}/peace")
    assert by_kill <= (FILES - left) * IN_EACH < len(decided) - after_comparing
    assert seen and continued.pop("continued_files") == left
    assert "continued_files" not in in_peace
    assert continued == in_peace and continued["repeated_ids"]
    assert made(f"{corpus}/continued") == made(f"{corpus}/peace")
    assert not pathlib.Path(corpus, "results").exists()


def test_results_of_another_cleaning_are_removed(corpus, decided):
    other = CLEANING.model_copy(update={"steps": (LengthStep(kind="length", min_words=3), *STEPS)})
    report = curated(corpus, f"{corpus}/other", other)
    assert "continued_files" not in report
    assert len(decided) >= FILES * IN_EACH
