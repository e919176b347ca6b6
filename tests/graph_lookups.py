"""Look-ups of TensorFlow at each operation of a graph, left out where they change nothing.

Tests of serving trace graphs for half of their time.
"""

import contextlib
import types

from tensorflow.python.framework import auto_control_deps, dtypes, func_graph, op_def_library
from tensorflow.python.util import compat

# A dataset, which may hold resources, is a variant.
_RESOURCES = (dtypes.resource, dtypes.variant)


def shorten_tracing() -> None:
    """Lets TensorFlow add operations to graphs with fewer look-ups."""
    # A context that is entered at each operation would look up the signature of a function made for it.
    func_graph.tf_contextlib = types.SimpleNamespace(contextmanager=contextlib.contextmanager)
    auto_control_deps._get_resource_inputs = _resource_inputs
    op_def_library._SatisfiesTypeConstraint = _check_type
    compat.as_str = _as_str


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
