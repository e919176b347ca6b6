"""Answers are the same when they are remembered."""

import inspect
import typing

import keras
import pytest
from keras.src.layers import layer as keras_layer
from keras.src.utils import traceback_utils as of_keras
from tensorflow.python.types import core
from tensorflow.python.util import traceback_utils as of_tensorflow


@typing.runtime_checkable
class Named(typing.Protocol):
    name: str

    def call(self): ...


class Both:
    def call(self):
        return 1


def test_a_protocol_asks_each_object_for_its_members():
    one, other = Both(), Both()
    one.name = "one"
    assert [isinstance(each, Named) for each in (one, other, 1, one)] == [True, False, False, True]
    assert isinstance(keras.ops.ones(2), core.TensorProtocol) and not isinstance([1.0], core.TensorProtocol)


@pytest.mark.repeated
def test_the_grammar_of_iris_is_there_when_one_is_checked():
    checker = pytest.importorskip("jsonschema").Draft202012Validator.FORMAT_CHECKER
    if "iri" not in checker.checkers:
        pytest.skip("rfc3987_syntax is not installed")
    assert [checker.conforms(text, "iri") for text in ("http://é.example/", "no iri")] == [True, False]


def test_tracebacks_are_filtered_by_default():
    assert of_keras.is_traceback_filtering_enabled() is of_tensorflow.is_traceback_filtering_enabled() is True


def test_an_error_in_a_layer_names_its_arguments_as_without_tests():
    class Failing(keras.layers.Layer):
        def call(self, inputs):
            raise ValueError("not today")

    with pytest.raises(ValueError, match=r"(?s)not today.*Arguments received by Failing"):
        Failing()(keras.ops.ones((2, 3)))


def test_a_layer_has_the_signature_of_its_own_call():
    class First(keras.layers.Layer):
        def call(self, inputs, mask=None):
            return inputs

    class Second(First):
        def call(self, inputs, training=None, more=0):
            return inputs

    for made in (First, Second, First):
        layer = made(name="made")
        assert list(keras_layer.inspect.signature(layer.call).parameters) == layer.call_signature_parameters
        assert keras_layer.inspect.signature(layer.call) == inspect.signature(layer.call)
        assert ("mask" in layer.call_signature_parameters) == (made is First)
    with pytest.raises(ValueError, match="width"):
        First(width=3)


def test_a_variable_has_its_own_name_and_value():
    one, other = (keras.Variable([1.0], name=name) for name in ("one", "other"))
    one.assign([2.0])
    assert [(each.name, float(each[0])) for each in (one, other)] == [("one", 2.0), ("other", 1.0)]
