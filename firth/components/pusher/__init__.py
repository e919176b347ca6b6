"""TFX's Pusher, whose versions are whole or not there."""

from firth.components.pusher.component import Pusher

__all__ = ["Pusher"]
