"""Shapes of all tensors that a loss and its gradients make, on the backend that Keras runs."""

import keras


def made_shapes(variables, compute_loss) -> list[tuple[int | None, ...]]:
    """Returns the shape of each tensor of the traced loss and its gradient, those of inner functions too."""
    by_backend = {"tensorflow": _in_graph, "jax": _in_jaxpr}
    return by_backend[keras.backend.backend()](variables, compute_loss)


def _in_graph(variables, compute_loss):
    import tensorflow as tf

    raw = [variable.value for variable in variables]

    @tf.function(autograph=False)
    def differentiate():
        with tf.GradientTape() as tape:
            loss = compute_loss()
        return tape.gradient(loss, raw)

    graph = differentiate.get_concrete_function().graph
    graphs = [
        graph,
        *(function.graph for function in graph._functions.values() if hasattr(function, "graph")),
    ]
    outputs = [each for one in graphs for operation in one.get_operations() for each in operation.outputs]
    return [tuple(each.shape) for each in outputs if each.shape.rank is not None]


def _in_jaxpr(variables, compute_loss):
    import jax

    def loss_of(values):
        with keras.StatelessScope(state_mapping=list(zip(variables, values))):
            return compute_loss()

    closed = jax.make_jaxpr(jax.grad(loss_of))([variable.value for variable in variables])
    return list(_shapes(closed.jaxpr))


def _shapes(jaxpr):
    for equation in jaxpr.eqns:
        for variable in equation.outvars:
            yield tuple(getattr(variable.aval, "shape", ()))
        for value in equation.params.values():
            for each in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(each, "jaxpr", each)
                if hasattr(inner, "eqns"):
                    yield from _shapes(inner)
