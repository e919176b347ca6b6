"""Objectives that are traced once for many trainings of the same recipe and tokenizer."""

from collections.abc import Callable

import tensorflow as tf


def trace_once(make: Callable) -> Callable:
    """Returns a function that makes objectives as `make` does, and gives equal ones the same graphs.

    Args:
        make: Class of an objective, which is called with its recipe, the rows of the recipe and a tokenizer.
    """
    known: dict[tuple, Callable] = {}

    def make_traced(config, sequences, tokenizer):
        key = (config.model_dump_json(), sequences.model_dump_json(), tokenizer.digest)
        if key not in known:
            known[key] = traced(make(config, sequences, tokenizer))
        return known[key]

    return make_traced


def traced(objective: Callable) -> Callable:
    """Returns an objective that calls a graph of its own, one for all datasets of rows of equal specs."""
    graphs = {}

    def call(*arguments):
        specs = tf.nest.map_structure(lambda value: tf.TensorSpec(value.shape, value.dtype), arguments)
        key = str(specs)
        if key not in graphs:
            # Outside of the dataset's graph, which ends with the training.
            with tf.init_scope():
                graphs[key] = tf.function(objective, autograph=False).get_concrete_function(*specs)
        return graphs[key](*arguments)

    return call
