"""The tasks, by their kind in a recipe; kinds of tasks and objectives differ."""

from typing import Any

TASKS: dict[str, Any] = {}
