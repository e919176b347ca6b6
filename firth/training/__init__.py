"""Training: from rows on disk to a trained model. The TFX Trainer enters at `firth.training.run_fn.run_fn`.

Example:

>>> import firth.training
>>> "train" in dir(firth.training)
True
"""

from firth.lazy import lazy_names

# Each name loads its module, and with it TensorFlow, when it is first used.
_HOMES = {
    "AdamW": "optimizers",
    "Checkpoints": "checkpoints",
    "DeviceError": "distribution",
    "NonFiniteLossError": "loop",
    "RowsError": "rows",
    "WarmupSchedule": "schedules",
    "count_pieces": "unigram",
    "prepare_devices": "distribution",
    "read_history": "history",
    "train": "pretraining",
}

__all__ = list(_HOMES)

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__():
    return __all__
