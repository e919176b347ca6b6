"""The commands that adapt models to tasks."""
