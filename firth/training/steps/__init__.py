"""The steps of a training on the device: one step, and blocks of them in one compiled function."""

from firth.training.steps.block import Block, build_block
from firth.training.steps.step import StepResult, build_train_step, count_tokens, draw_state

__all__ = ["Block", "StepResult", "build_block", "build_train_step", "count_tokens", "draw_state"]
