"""Pusher: TFX's, with versions that appear only when they are whole."""

from firth.components.pusher.component import Pusher

__all__ = ["Pusher"]
