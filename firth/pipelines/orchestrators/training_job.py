"""A training in a custom job of Vertex, which may have several workers, instead of a task of the pipeline."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from tfx.components import Trainer

from firth.pipelines.orchestrators.resources import read_values

_TOGETHER = "multi_worker_mirrored"


@dataclasses.dataclass(frozen=True)
class TrainingJob:
    """The machines of a custom job of Vertex.

    Attributes:
        project: Project that the job is of.
        region: Region such as us-central1.
        machine: Type of the machines, such as n1-standard-8.
        accelerator: Type of the accelerators, such as NVIDIA_TESLA_T4; empty for none.
        count: Number of accelerators of each machine.
        workers: Number of machines, the chief among them. Vertex tells each of the others in TF_CONFIG, which
            `training.strategy: multi_worker_mirrored` reads.
    """

    project: str
    region: str
    machine: str
    accelerator: str = ""
    count: int = 1
    workers: int = 1

    def worker_pools(self, image: str) -> list[dict[str, Any]]:
        """Returns the pools of a CustomJobSpec: the chief, and the other workers."""
        machine: dict[str, Any] = {"machine_type": self.machine}
        if self.accelerator:
            machine |= {"accelerator_type": self.accelerator, "accelerator_count": self.count}
        numbers = [1, self.workers - 1] if self.workers > 1 else [1]
        return [
            {"machine_spec": machine, "replica_count": number, "container_spec": {"image_uri": image}}
            for number in numbers
        ]


def read_training_job(line: str) -> TrainingJob:
    """Returns the job that a line describes.

    Raises:
        ValueError: for an unknown key, with the nearest, one that lacks, or something that is not a value.

    Example:

    >>> read_training_job("project=mine,region=us-central1,machine=n1-standard-8").workers
    1
    """
    return read_values(TrainingJob, line, f"--training-job {line}")


def check_workers(job: TrainingJob, strategy: str) -> None:
    """Passes if the machines of a job train one model together."""
    if job.workers > 1 and strategy != _TOGETHER:
        raise ValueError(
            f"--training-job: {job.workers} workers train one model only with training.strategy: "
            f"{_TOGETHER}, not {strategy}; add --set training.strategy={_TOGETHER}, or leave workers out"
        )


def trainer_of(job: TrainingJob, image: str) -> Callable[..., Trainer]:
    """Returns what makes the Trainer of TFX that starts such a job and waits for it.

    Raises:
        ImportError: if Vertex's client is not installed.
    """
    from tfx.extensions.google_cloud_ai_platform import constants
    from tfx.extensions.google_cloud_ai_platform.trainer import component, executor

    of_job = {
        constants.ENABLE_VERTEX_KEY: True,
        constants.VERTEX_REGION_KEY: job.region,
        executor.TRAINING_ARGS_KEY: {
            "project": job.project,
            "job_spec": {"worker_pool_specs": job.worker_pools(image)},
        },
    }
    return functools.partial(_make, component.Trainer, of_job)


def _make(trainer: type[Trainer], of_job: dict[str, Any], **settings: Any) -> Trainer:
    return trainer(**{**settings, "custom_config": {**settings["custom_config"], **of_job}})
