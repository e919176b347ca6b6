"""The page on a run that adapts a model to a task."""
