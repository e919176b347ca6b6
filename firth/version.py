"""The version of the library."""

import os

from firth import storage

__version__ = storage.read_text(os.path.join(os.path.dirname(__file__), "VERSION")).strip()
