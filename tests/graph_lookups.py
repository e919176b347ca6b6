"""Look-ups of TensorFlow at each operation, left out where they change nothing.

Tests trace graphs, or run their operations one by one, for most of their time.
"""

import contextlib
import functools
import types

from tensorflow.python.eager import context, record
from tensorflow.python.framework import auto_control_deps, dtypes, func_graph, op_def_library, ops
from tensorflow.python.ops import array_ops_stack, custom_gradient
from tensorflow.python.util import compat

# A dataset, which may hold resources, is a variant.
_RESOURCES = (dtypes.resource, dtypes.variant)
_STACKED = "_stacked_by_tests"


def shorten_tracing() -> None:
    """Lets TensorFlow run operations, and add them to graphs, with fewer look-ups."""
    # A context that is entered at each operation would look up the signature of a function made for it.
    func_graph.tf_contextlib = types.SimpleNamespace(contextmanager=contextlib.contextmanager)
    func_graph.FuncGraph.as_default = _as_default
    auto_control_deps._get_resource_inputs = _resource_inputs
    op_def_library._SatisfiesTypeConstraint = _check_type
    compat.as_str = _as_str
    dtypes.as_dtype = _as_dtype
    # Slices make their bounds by it.
    array_ops_stack.stack = _stack
    custom_gradient._eager_mode_decorator = _with_gradient


_made_default = func_graph.FuncGraph.as_default


def _as_default(graph):
    """Leaves a graph the default one, to which each operation makes it."""
    if ops.get_default_graph() is graph and not context.executing_eagerly():
        return contextlib.nullcontext(graph)
    return _made_default(graph)


_resource_inputs_of_any = auto_control_deps._get_resource_inputs


def _resource_inputs(operation):
    """Returns an operation's resources, for which those whose inputs are plain tensors are not asked."""
    if all(each.dtype not in _RESOURCES for each in operation.inputs):
        return ()
    return _resource_inputs_of_any(operation)


_check_any_type = op_def_library._SatisfiesTypeConstraint


def _check_type(dtype, attr_def, param_name):
    """Lists the types that are allowed where one is not among them."""
    if dtype not in attr_def.allowed_values.list.type:
        _check_any_type(dtype, attr_def, param_name)


_as_str_of_any = compat.as_str


def _as_str(bytes_or_text, encoding="utf-8"):
    """Returns a text as it is, without looking up the encoding."""
    return bytes_or_text if type(bytes_or_text) is str else _as_str_of_any(bytes_or_text, encoding)


_as_dtype_of_any = dtypes.as_dtype
_as_dtype_of_number = functools.cache(_as_dtype_of_any)


def _as_dtype(type_value):
    return _as_dtype_of_number(type_value) if type(type_value) is int else _as_dtype_of_any(type_value)


_stack_of_any = array_ops_stack.stack
_stack_of_numbers = functools.cache(lambda numbers: _stack_of_any(list(numbers)))


def _stack(values, axis=0, name="stack"):
    """Makes one constant of the same numbers, of which each slice takes three lists."""
    if axis != 0 or not all(type(each) is int for each in values):
        return _stack_of_any(values, axis, name)
    if context.executing_eagerly():
        return _stack_of_numbers(tuple(values))
    graph = ops.get_default_graph()
    if not graph.building_function or graph._current_control_dependencies():
        return _stack_of_any(values, axis, name)
    if not hasattr(graph, _STACKED):
        setattr(graph, _STACKED, {})
    known, numbers = getattr(graph, _STACKED), tuple(values)
    if numbers not in known:
        known[numbers] = _stack_of_any(values, axis, name)
    return known[numbers]


_with_gradient_for_tapes = custom_gradient._eager_mode_decorator


def _with_gradient(function, args, kwargs):
    """Calls a function that brings its gradient, which is not looked into where no tape asks for it."""
    if record.could_possibly_record():
        return _with_gradient_for_tapes(function, args, kwargs)
    return function(*args, **kwargs)[0]
