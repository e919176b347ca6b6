"""Memory that XLA plans for compiled gradients."""

import jax
import keras

# On a CPU, XLA takes the barriers away before it joins what is computed twice, and so saves nothing there.
_KEEP_BARRIERS = {"xla_disable_hlo_passes": "cse_barrier_expander"}


def temporary_bytes(variables, compute_loss) -> int:
    """Returns the bytes of all that is kept or computed on the way to the gradients of some variables."""

    def loss_of(values):
        with keras.StatelessScope(state_mapping=list(zip(variables, values))):
            return compute_loss()

    lowered = jax.jit(jax.grad(loss_of)).lower([variable.value for variable in variables])
    return lowered.compile(compiler_options=_KEEP_BARRIERS).memory_analysis().temp_size_in_bytes
