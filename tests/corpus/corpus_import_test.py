import json
import subprocess
import sys

import pytest

from tests.fresh_process import run_python

SCRIPT = """
import json
import sys

import firth.corpus as corpus

loaded = [sorted({"apache_beam", "tensorflow", "tfx"} & set(sys.modules))]

import apache_beam as beam

from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import TextSource
from tests.beam_lookups import remember_lookups

remember_lookups()

def make_pipeline():
    return beam.Pipeline(argv=["--direct_running_mode=in_memory", "--direct_num_workers=1"])

folder = sys.argv[1]
source = TextSource(kind="text", paths=(f"{folder}/*.txt",))
with make_pipeline() as pipeline:
    _ = pipeline | corpus.ReadSources([source], folder) | corpus.WriteRecords(f"{folder}/raw")
near_duplicates = {"kind": "near_duplicates", "rounds": 2}
steps = ({"kind": "normalize"}, {"kind": "exact_duplicates"}, near_duplicates, {"kind": "pii"})
cleaning = Cleaning.model_validate({"steps": steps})
splits = {split: f"{folder}/{split}" for split in ("train", "eval")}
corpus.curate(make_pipeline, folder, f"{folder}/raw/*", cleaning, splits, f"{folder}/report")
loaded.append(sorted({"tensorflow", "tfx"} & set(sys.modules)))
print(json.dumps(loaded))
"""


NAMES = """
import sys

import firth.corpus as corpus

for name in corpus.__all__:
    getattr(corpus, name)
assert "tfx" not in sys.modules
"""


# `make lint` holds imports to those of `BUILD`, which has no TFX for what the corpus imports.
@pytest.mark.repeated
def test_the_package_loads_no_beam_and_reading_and_cleaning_neither_tensorflow_nor_tfx(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text(f"Call me Ishmael the {i}th. Some years ago I saw {i} ships.")
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == [[], []]
    assert (tmp_path / "report" / "corpus_report.json").exists()


@pytest.mark.repeated
def test_no_name_of_the_package_loads_tfx():
    done = run_python(["-c", NAMES])
    assert done.returncode == 0, done.stderr[-2000:]
