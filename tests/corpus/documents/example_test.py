import hypothesis.strategies as st
import tensorflow as tf
from hypothesis import given, settings

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


@settings(max_examples=50, derandomize=True)
@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_examples_are_tensorflows_to_the_byte(features):
    ours, theirs = fill(Example(), features), fill(tf.train.Example(), features)
    assert ours == theirs
    assert Example.FromString(theirs).SerializeToString(deterministic=True) == theirs
