"""Every function of Beam in the package can be sent to a worker: another process reads it as it is made."""

import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys

import apache_beam as beam
import pytest
from apache_beam.internal import pickler

import firth
from firth.corpus.curation.clean import CountDecisions, MeasureValues
from firth.corpus.curation.cleaned_files import CleanFile
from firth.corpus.decontamination import decontaminate
from firth.corpus.documents.steps import CountingFn
from firth.corpus.grouping import values
from firth.corpus.io import records
from firth.corpus.packing.tokenization import Tokenize
from firth.evaluation.task_metrics import ScoreRecords
from firth.evaluation.tfma_metrics import SumExamples
from firth.recipes import Cleaning, DecontaminateStep, TextBenchmark

BASES = (beam.DoFn, beam.CombineFn)
SEARCH = DecontaminateStep(
    kind="decontaminate", benchmarks=(TextBenchmark(kind="text", name="exam", paths=("exam.txt",)),)
)
READ_THERE = """
import sys
from apache_beam.internal import pickler
for line in open(sys.argv[1], "rb"):
    print(type(pickler.loads(line.rstrip(b"\\n"))).__name__)
"""


def made():
    """One of each class, by what a pipeline makes it of."""
    index = decontaminate.SharedIndex([], 13)
    return (
        Tokenize("folder", 3),
        CleanFile(Cleaning()),
        CountDecisions("length", False, False, False),
        MeasureValues(SEARCH),
        decontaminate._Search(SEARCH, index),
        values._Write("scratch"),
        records._WriteRecords("folder"),
        CountingFn(),
        SumExamples("key", ("loss",)),
        ScoreRecords("key", "{}"),
    )


def classes():
    """All classes of the package that Beam sends to workers, wherever they are."""
    names = [each.name for each in pkgutil.walk_packages(firth.__path__, "firth.")]
    for name in names:
        source = pathlib.Path(importlib.util.find_spec(name).origin)
        # What does not name Beam has no function of it.
        if "Fn" in source.read_text():
            importlib.import_module(name)
    found, waiting = set(), list(BASES)
    while waiting:
        for each in waiting.pop().__subclasses__():
            waiting.append(each)
            if each.__module__.startswith("firth."):
                found.add(each)
    return found


def test_each_class_is_tried_here():
    assert {type(each) for each in made()} == {each for each in classes() if not inspect.isabstract(each)}


@pytest.mark.parametrize("each", made(), ids=lambda each: type(each).__name__)
def test_it_is_pickled_as_it_is_made(each):
    again = pickler.loads(pickler.dumps(each))
    assert type(again) is type(each)
    assert vars(again).keys() == vars(each).keys()
    plain = {name: value for name, value in vars(each).items() if isinstance(value, str | int | tuple)}
    assert plain.items() <= vars(again).items()


@pytest.mark.repeated
def test_a_process_that_has_loaded_nothing_reads_it(tmp_path):
    path = tmp_path / "pickled"
    path.write_bytes(b"".join(pickler.dumps(each) + b"\n" for each in made()))
    done = subprocess.run([sys.executable, "-c", READ_THERE, str(path)], capture_output=True, text=True)
    assert done.stdout.split() == [type(each).__name__ for each in made()], done.stderr[-2000:]


def test_a_function_that_cannot_be_pickled_is_noticed():
    class Reading(beam.DoFn):
        def __init__(self):
            self.lines = (line for line in [])

    with pytest.raises(TypeError, match="generator"):
        pickler.dumps(Reading())
