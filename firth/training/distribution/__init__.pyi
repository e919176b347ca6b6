from .replicas import (
    WHOLE as WHOLE,
    BatchShare as BatchShare,
    distribute as distribute,
    sum_over_replicas as sum_over_replicas,
)
from .strategies import (
    DeviceError as DeviceError,
    build_strategy as build_strategy,
    prepare_devices as prepare_devices,
    workers_of as workers_of,
)
from .workers import (
    ClusterError as ClusterError,
    WorkerLostError as WorkerLostError,
    Workers as Workers,
    lost_workers_told as lost_workers_told,
)
