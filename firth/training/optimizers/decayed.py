"""Which weights are decayed: by what they are, as their names say it, and not by their shapes."""

import keras

_BIAS = "bias"
# Scales and shifts of norms, and of what else multiplies or shifts each value.
_SCALES = ("beta", "gamma", "scale")
# Of a chain of tags, what is added to the scores of its first one and of its last one.
_ENDS = ("starts", "ends")


def is_decayed(variable: keras.Variable) -> bool:
    """Returns whether weight decay reaches a variable.

    It leaves out biases, also those that have an axis of heads as XLNet's or of directions as ELMo's, and the
    scales of norms. Kernels and tables are decayed (Devlin et al. 2018, BERT's released code).

    Example:

    >>> [is_decayed(keras.Variable([[1.0]], name=name)) for name in ("kernel", "position_bias")]
    [True, False]
    """
    name = variable.name
    return not name.endswith(_BIAS) and name not in (*_SCALES, *_ENDS)
