"""Pusher: puts a blessed model where a server looks for new versions."""

from tfx.components import Pusher as TfxPusher
from tfx.dsl.components.base import executor_spec

from firth.components.pusher.executor import Executor


class Pusher(TfxPusher):
    """TFX's Pusher with two differences: versions are counted, and appear when they are whole.

    TFX takes the time as the version, so that after a clock that was ahead every later model is older. Here
    it is the number after the highest version. TFX copies a model file by file into the version's folder;
    after a kill or on a full disk, half of it is left there, which servers and `firth predict` take for the
    newest version.
    """

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)
