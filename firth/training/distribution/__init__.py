"""The devices and the processes of a training, and the division of its batches among them."""

from firth.training.distribution.replicas import WHOLE, BatchShare, distribute, sum_over_replicas
from firth.training.distribution.strategies import DeviceError, build_strategy, prepare_devices, workers_of
from firth.training.distribution.workers import ClusterError, WorkerLostError, Workers, lost_workers_told

__all__ = [
    "WHOLE",
    "BatchShare",
    "ClusterError",
    "DeviceError",
    "WorkerLostError",
    "Workers",
    "build_strategy",
    "distribute",
    "lost_workers_told",
    "prepare_devices",
    "sum_over_replicas",
    "workers_of",
]
