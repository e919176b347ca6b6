"""Look-ups of the same class, function or options, made once instead of at every visit of a pipeline.

A small pipeline of Beam takes longer to build than to run. Most of that time goes into signatures of a DoFn's
methods, sources of functions, parsers of options, and sizes of cached values. None of them changes a result.
"""

import contextlib
import functools
import inspect
import sys
import threading
import types
import typing
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

Lookup: TypeAlias = Callable[..., Any]
_LOCK = threading.Lock()
# A stack that puts the look-ups back, once and for each open block.
_BLOCKS: list[contextlib.ExitStack] = []


@contextlib.contextmanager
def remembered_lookups() -> Iterator[None]:
    """Lets Beam, and Python's protocols, remember their look-ups while the block runs.

    Blocks of several threads may overlap: the last one that ends forgets the look-ups. Beam has no option for
    it. A fine-tuning of 1,000 records takes two seconds less (benchmarks/fixed_part.py).

    Example:

    >>> with remembered_lookups():
    ...     pass
    """
    with _LOCK:
        if not _BLOCKS:
            _BLOCKS.append(_patch_lookups())
        _BLOCKS.append(_BLOCKS[0])
    try:
        yield
    finally:
        with _LOCK:
            _BLOCKS.pop()
            if len(_BLOCKS) == 1:
                _BLOCKS.pop().close()


def _patch_lookups() -> contextlib.ExitStack:
    """Replaces the look-ups, and returns a stack that puts them back when it is closed."""
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.worker import statecache
    from apache_beam.transforms import core, ptransform, userstate, util
    from apache_beam.typehints import decorators

    signature = remember_signatures(decorators.get_signature)
    # A size decides only how long a value is cached; the globals of all modules need not be listed for it.
    measure = functools.partial(statecache.objsize.get_deep_size, exclude_modules_globals=False)
    patches: list[tuple[Any, str, Any]] = [
        (userstate, "get_dofn_specs", remember_specs(userstate.get_dofn_specs)),
        (PipelineOptions, "view_as", remember_views(PipelineOptions.view_as)),
        *((module, "get_signature", signature) for module in (decorators, core, ptransform, util)),
        (statecache, "objsize", types.SimpleNamespace(get_deep_size=measure)),
    ]
    if sys.version_info < (3, 12):
        # TensorFlow asks for the members of a protocol at each operation; from 3.12 on Python remembers them.
        names = ("_get_protocol_attrs", "_is_callable_members_only")
        patches += [(typing, name, functools.cache(getattr(typing, name))) for name in names]
    restored = contextlib.ExitStack()
    for place, name, made in patches:
        restored.callback(setattr, place, name, getattr(place, name))
        setattr(place, name, made)
    return restored


def remember_specs(look_up: Lookup) -> Lookup:
    """Returns Beam's look-up of a DoFn's states and timers, which are those of its class.

    A DoFn that has methods of its own, not those of its class, is looked up each time.
    """
    known: dict[Any, Any] = {}

    def get_dofn_specs(dofn: Any) -> Any:
        if any(isinstance(value, types.MethodType) for value in vars(dofn).values()):
            return look_up(dofn)
        # What has a name in the instance hides what has that name in the class.
        key = (type(dofn), *vars(dofn))
        if key not in known:
            known[key] = look_up(dofn)
        states, timers = known[key]
        return set(states), set(timers)

    return get_dofn_specs


def remember_views(make_view: Lookup) -> Lookup:
    """Returns Beam's view of options as a class of options; all views of options share their values."""
    known: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def view_as(self: Any, cls: Any) -> Any:
        views = known.setdefault(self, {})
        if cls not in views:
            views[cls] = make_view(self, cls)
        return views[cls]

    return view_as


def remember_signatures(look_up: Lookup) -> Lookup:
    """Returns a look-up of the signature of a function, or of a function as a method of an object."""
    known: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def get_signature(func: Any) -> inspect.Signature:
        bound = isinstance(func, types.MethodType)
        function = func.__func__ if bound else func
        if not isinstance(function, types.FunctionType):
            return cast(inspect.Signature, look_up(func))
        signatures = known.setdefault(function, {})
        if bound not in signatures:
            signatures[bound] = look_up(func)
        return cast(inspect.Signature, signatures[bound])

    return get_signature
