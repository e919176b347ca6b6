"""The methods, by their kind in a recipe: functions (model, method) that prepare a built model."""

from typing import Any

METHODS: dict[str, Any] = {}
