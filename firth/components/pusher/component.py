"""Pusher: puts a blessed model where a server looks for new versions."""

from tfx.components import Pusher as TfxPusher
from tfx.dsl.components.base import executor_spec

from firth.components.pusher.executor import Executor


class Pusher(TfxPusher):
    """TFX's Pusher with one difference: a version appears under its number when it is whole.

    TFX copies a model file by file into the version's folder. After a kill or on a full disk, half of it is
    left there, which servers and `firth predict` take for the newest version.
    """

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)
