"""What Beam looks up of the same class or options at every visit of a pipeline is looked up once in tests.

A small pipeline takes longer to build than to run. Most of that time goes into signatures of a DoFn's
methods, which say what state it has, and into parsers of options, of which each view of options makes one.
"""

import types
import weakref

from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import userstate


def remember_lookups() -> None:
    """Lets Beam remember what it looks up, in this process and in those forked off it."""
    userstate.get_dofn_specs = remember_specs(userstate.get_dofn_specs)
    PipelineOptions.view_as = remember_views(PipelineOptions.view_as)


def remember_specs(look_up):
    """Returns Beam's look-up of a DoFn's states and timers, which are those of its class.

    A DoFn that has methods of its own, not those of its class, is looked up each time.
    """
    known: dict = {}

    def get_dofn_specs(dofn):
        if any(isinstance(value, types.MethodType) for value in vars(dofn).values()):
            return look_up(dofn)
        # What has a name in the instance hides what has that name in the class.
        key = (type(dofn), *vars(dofn))
        if key not in known:
            known[key] = look_up(dofn)
        states, timers = known[key]
        return set(states), set(timers)

    return get_dofn_specs


def remember_views(make_view):
    """Returns Beam's view of options as a class of options; all views of options share their values."""
    known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    def view_as(self, cls):
        views = known.setdefault(self, {})
        if cls not in views:
            views[cls] = make_view(self, cls)
        return views[cls]

    return view_as
