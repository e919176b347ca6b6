"""Curator: cleaning, and the split into train and eval."""

from firth.components.curator.component import Curator

__all__ = ["Curator"]
