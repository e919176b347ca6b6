import pytest

from firth.pipelines.orchestrators.targets import Resources, read_resources


def test_only_what_is_said_is_asked_for():
    (read,) = read_resources(["Trainer:accelerator=nvidia.com/gpu"]).values()
    assert read.as_spec() == {"accelerator": {"type": "nvidia.com/gpu", "count": "1"}}
    assert Resources(cpu=0.5).as_spec() == {"cpuLimit": 0.5}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Trainer:gpu=1", "--resources Trainer:gpu=1: unknown key 'gpu'; did you mean cpu?"),
        ("Trainer:memory=32G", "'memory=32G' is not a value; write it as memory=8"),
        ("cpu=-1", "'cpu=-1' is not a value"),
        ("cpu=nan", "'cpu=nan' is not a value"),
        ("Trainer:accelerator=", "write it as accelerator=NVIDIA_L4"),
        ("Trainer", "unknown key 'Trainer'"),
        ("cpu=4,cpu=8", "--resources cpu=4,cpu=8: cpu is there twice"),
    ],
)
def test_other_lines_are_refused(line, problem):
    with pytest.raises(ValueError) as error:
        read_resources([line])
    assert problem in str(error.value)


@pytest.mark.parametrize("task", ["Trainer:", ""])
def test_a_task_has_one_line(task):
    with pytest.raises(ValueError, match=rf"another line.* {task}cpu=8,memory"):
        read_resources([f"{task}cpu=4", "Pusher:cpu=1", f"{task}memory=16"])
