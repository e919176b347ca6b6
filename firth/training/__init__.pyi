from .checkpoints import Checkpoints as Checkpoints
from .history import read_history as read_history
from .jax_process import JaxTrainingError as JaxTrainingError
from .loop import NonFiniteLossError as NonFiniteLossError
from .optimizers.adamw import AdamW as AdamW
from .optimizers.schedules import WarmupSchedule as WarmupSchedule
from .pretraining import train as train
from .rows import RowsError as RowsError, count_pieces as count_pieces
from .strategies import (
    DeviceError as DeviceError,
    prepare_devices as prepare_devices,
)
from .workers import (
    ClusterError as ClusterError,
    WorkerLostError as WorkerLostError,
)
