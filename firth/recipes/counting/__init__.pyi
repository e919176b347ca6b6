from .accelerators import (
    training_flops as training_flops,
    training_flops_per_step as training_flops_per_step,
    training_tokens as training_tokens,
)
from .memory import (
    memory_bytes as memory_bytes,
    parameter_counts as parameter_counts,
    total_bytes as total_bytes,
)
