"""Objectives that are traced once for many trainings of the same recipe and tokenizer."""

import types
from collections.abc import Callable

import tensorflow as tf


def trace_once(make: Callable) -> Callable:
    """Returns a function that makes objectives as `make` does, and gives equal ones the same graphs.

    A class with a method that a test has patched has graphs of its own. Functions and layers that it
    calls are not compared: a test that patches one has to make the objective itself.

    Args:
        make: Class of an objective, which is called with its recipe, the rows of the recipe and a tokenizer.
    """
    known: dict[tuple, Callable] = {}

    def make_traced(config, sequences, tokenizer):
        same = (config.model_dump_json(), sequences.model_dump_json(), tokenizer.digest)
        key = (*same, _methods_of(make))
        if key not in known:
            known[key] = traced(make(config, sequences, tokenizer))
        return known[key]

    return make_traced


def _methods_of(made: type) -> tuple:
    """Returns the methods of a class and of its bases. A key that holds them keeps their identities apart."""
    kinds = (types.FunctionType, property, staticmethod, classmethod)
    return tuple(each for base in made.__mro__ for each in vars(base).values() if isinstance(each, kinds))


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
