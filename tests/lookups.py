"""Look-ups of the same function or class, made once instead of at every operation and for every layer.

They change no result. Small models spend a tenth of their time on them, and on chunks for large vocabularies.
"""

import functools
import inspect
import sys
import types
import typing

from firth.pipelines.beam_lookups import remember_signatures


def remember_protocols() -> None:
    """Lets Python remember the members of a protocol, as 3.12 does: TensorFlow asks at each operation."""
    if sys.version_info < (3, 12):
        for name in ("_get_protocol_attrs", "_is_callable_members_only"):
            setattr(typing, name, functools.cache(getattr(typing, name)))


def remember_tracebacks() -> None:
    """Keeps TensorFlow and Keras, where loaded, from asking at each call whether tracebacks are filtered."""
    for name in ("tensorflow.python.util.traceback_utils", "keras.src.utils.traceback_utils"):
        if module := sys.modules.get(name):
            # No test changes it.
            module.is_traceback_filtering_enabled = functools.partial(bool, True)


def remember_arguments_of_layers() -> None:
    """Lets Keras, where it is loaded, remember the signatures that it looks up for each new layer."""
    remembered = {
        "signature": remember_signatures(inspect.signature),
        "getfullargspec": functools.cache(inspect.getfullargspec),
    }
    for name in ("keras.src.layers.layer", "keras.src.ops.operation"):
        if module := sys.modules.get(name):
            module.inspect = types.SimpleNamespace(**{**vars(inspect), **remembered})
