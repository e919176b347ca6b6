"""The signatures of tasks."""
