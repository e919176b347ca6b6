"""All layers, each with tiny arguments, inputs and what must come of them.

Where one layer has several cases, their names have the difference after a comma.
"""

from tests.layers.head_cases import HEADS
from tests.layers.part_cases import PARTS
from tests.layers.stack_cases import STACKS

CASES = {**PARTS, **STACKS, **HEADS}
