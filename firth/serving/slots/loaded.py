"""A SavedModel in a session, which a server asks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2


class Loaded:
    """A model in a V1 session, as TF Serving loads it.

    With `lanes`, as many runs may each have a thread of their own that starts its operations, by
    `RunOptions(inter_op_thread_pool=1)` to `lanes`. The operations of a stack of blocks wait for each other,
    and threads that share them sleep and wake up between.
    """

    def __init__(self, directory: str, lanes: int = 0) -> None:
        # Its optimizer goes over each of the graphs that are asked for, here once instead of twice.
        config = tf.compat.v1.ConfigProto()
        rewriting = config.graph_options.rewrite_options
        rewriting.meta_optimizer_iterations = rewriter_config_pb2.RewriterConfig.ONE
        if lanes:
            # The first one is that of all other runs; versions share it.
            config.session_inter_op_thread_pool.add().global_name = "others"
            for _ in range(lanes):
                config.session_inter_op_thread_pool.add().num_threads = 1
        self.session = tf.compat.v1.Session(graph=tf.Graph(), config=config)
        self.meta_graph = meta_graph = tf.compat.v1.saved_model.loader.load(
            self.session, ["serve"], directory
        )
        # The loader's own signatures, such as that of the initializer, have no method.
        predict = tf.compat.v1.saved_model.signature_constants.PREDICT_METHOD_NAME
        self.signatures = {
            name: signature
            for name, signature in meta_graph.signature_def.items()
            if signature.method_name == predict
        }

    def run(self, name: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the outputs of a signature as arrays."""
        if name not in self.signatures:
            raise LookupError(f"the model has no signature {name}")
        signature = self.signatures[name]
        infos = {key: signature.inputs[key] for key in inputs}
        feed = {infos[key].name: _array(values, infos[key]) for key, values in inputs.items()}
        return self.session.run({key: info.name for key, info in signature.outputs.items()}, feed)


def _array(values: Any, info: Any) -> np.ndarray[Any, Any]:
    """Returns values as an array of an input's dtype and rank, which a batch of nothing does not show."""
    made = np.array(values, tf.dtypes.as_dtype(info.dtype).as_numpy_dtype)
    return made if made.size else made.reshape(made.shape[:1] + (0,) * (len(info.tensor_shape.dim) - 1))
