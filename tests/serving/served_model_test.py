import numpy as np
import tensorflow as tf

from tests.exported_model import exported_model
from tests.serving.served_texts import features_of


def test_texts_are_encoded_as_one_segment_padded_to_the_longest():
    encoded = exported_model().served.encode(tf.constant(["the cats", "", "z"]))
    expected = features_of(
        ["[CLS]", "the", "cat", "##s", "[SEP]"], ["[CLS]", "[SEP]"], ["[CLS]", "z", "[SEP]"], length=5
    )
    assert set(encoded.features) == set(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(encoded.features[name], values, name)
    assert encoded.reading.outputs["truncated"].numpy().tolist() == [False, False, False]
