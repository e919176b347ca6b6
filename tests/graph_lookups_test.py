"""Graphs are the same with fewer look-ups."""

import pytest
import tensorflow as tf

from tests.graph_lookups import shorten_tracing


@pytest.fixture(autouse=True)
def _shortened():
    shorten_tracing()


def test_a_type_that_an_operation_does_not_take_is_refused_with_those_it_takes():
    traced = tf.function(lambda value: tf.raw_ops.Sqrt(x=value))
    assert traced(tf.constant(4.0)).numpy() == 2.0
    with pytest.raises(TypeError, match=r"int32 .*allowed values: .*float32"):
        traced(tf.constant(4))


def test_resources_are_read_and_written_in_their_order():
    variable, dataset = tf.Variable(1), tf.data.Dataset.range(3)

    @tf.function
    def counted():
        before = variable + 0
        variable.assign_add(before)
        if variable > 0:
            variable.assign(variable * 3)
        # The dataset is a variant that holds the variable.
        seen = dataset.map(lambda number: variable + tf.cast(number, tf.int32)).reduce(0, tf.add)
        variable.assign(0)
        return before, seen, variable + 0

    assert [each.numpy() for each in counted()] == [1, 6 + 7 + 8, 0]
    assert variable.numpy() == 0


def test_a_graph_is_the_default_one_only_within():
    graph = tf.function(lambda: tf.constant(1)).get_concrete_function().graph
    with graph.as_default():
        assert not tf.executing_eagerly() and tf.compat.v1.get_default_graph() is graph
    assert tf.executing_eagerly()


def test_a_function_brings_its_gradient_where_a_tape_asks_for_it():
    @tf.custom_gradient
    def double(value):
        return 2.0 * value, lambda upstream: 5.0 * upstream

    assert double(tf.constant(3.0)).numpy() == 6.0
    with tf.GradientTape() as tape:
        value = tf.Variable(3.0)
        found = double(tf.identity(value))
    assert (found.numpy(), tape.gradient(found, value).numpy()) == (6.0, 5.0)


def test_slices_of_a_graph_share_their_bounds_and_of_none_other():
    rows = tf.range(6)

    def parts(rows):
        with tf.control_dependencies([tf.debugging.assert_positive(tf.size(rows))]):
            guarded = rows[1:3]
        return guarded, rows[1:3], rows[1:4], rows[-2:]

    expected = [[1, 2], [1, 2], [1, 2, 3], [4, 5]]
    for _ in range(2):
        for function in (parts, tf.function(parts), tf.function(lambda rows: parts(rows))):
            assert [each.numpy().tolist() for each in function(rows)] == expected
