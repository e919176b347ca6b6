"""All layers, each with tiny arguments, inputs and what must come of them.

Where one layer has several cases, what is special to each stands after a comma.
"""

from tests.layers.head_cases import HEADS
from tests.layers.part_cases import PARTS
from tests.layers.stack_cases import STACKS

CASES = {**PARTS, **STACKS, **HEADS}
