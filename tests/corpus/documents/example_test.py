import subprocess
import sys

import hypothesis.strategies as st
import tensorflow as tf
from hypothesis import given

from firth.corpus.documents.example import Example

NAMES = st.text(max_size=5)
VALUES = (
    st.lists(st.binary(max_size=9), max_size=3)
    | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3)
    | st.lists(st.floats(width=32, allow_nan=False), max_size=3)
)
LISTS = {bytes: "bytes_list", int: "int64_list", float: "float_list"}


def fill(example, features):
    for name, values in features.items():
        feature = example.features.feature[name]
        if values:
            getattr(feature, LISTS[type(values[0])]).value.extend(values)
    return example.SerializeToString(deterministic=True)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_examples_are_tensorflows_to_the_byte(features):
    ours, theirs = fill(Example(), features), fill(tf.train.Example(), features)
    assert ours == theirs
    assert Example.FromString(theirs).SerializeToString(deterministic=True) == theirs


SCRIPT = """
import sys
import apache_beam as beam
from firth.corpus import ReadSources, WriteRecords, curate
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import TextSource

def make_pipeline():
    return beam.Pipeline(argv=["--direct_running_mode=in_memory", "--direct_num_workers=1"])

folder = sys.argv[1]
source = TextSource(kind="text", paths=(f"{folder}/*.txt",))
with make_pipeline() as pipeline:
    _ = pipeline | ReadSources([source], folder) | WriteRecords(f"{folder}/raw")
near_duplicates = {"kind": "near_duplicates", "rounds": 2}
steps = ({"kind": "normalize"}, {"kind": "exact_duplicates"}, near_duplicates, {"kind": "pii"})
cleaning = Cleaning.model_validate({"steps": steps})
splits = {split: f"{folder}/{split}" for split in ("train", "eval")}
curate(make_pipeline, folder, f"{folder}/raw/*", cleaning, splits, f"{folder}/report")
print("tensorflow" in sys.modules)
"""


def test_reading_and_cleaning_do_without_tensorflow(tmp_path):
    for i in range(40):
        (tmp_path / f"{i}.txt").write_text(f"Call me Ishmael the {i}th. Some years ago I saw {i} ships.")
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr[-2000:]
