"""Pipelines: functions from a recipe to a TFX pipeline, and the runners that execute them.

Importing this package loads nothing; `firth.pipelines.pretrain` loads TFX, which takes a while.
"""
