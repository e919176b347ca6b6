"""The process that trains on JAX, which sends a signal to the one that started it.

It holds a lock until it has ended. After the signal it makes no step before the signal's effect reaches it:
SIGTERM is handed on to it, and its standard input ends with a process that is killed.
"""

import fcntl
import os
import threading
from unittest import mock

from firth.training.jax_backend.__main__ import main
from firth.training.termination import Termination
from tests.training.kills import calls_after

# Its value: the number of the signal, the step and the checkpoints that come before it, and the lock's file.
VARIABLE = "TESTS_ENDS_STARTER"
# After them, a process that nothing has reached fails.
_SECONDS = 60


def _run(number: int, step: int, saved: int, lock: str) -> None:
    reached, take = threading.Event(), Termination.take

    def take_and_continue(self: Termination, *arguments: object) -> None:
        reached.set()
        take(self, *arguments)

    def end_starter() -> None:
        os.kill(os.getppid(), number)
        if not reached.wait(_SECONDS):
            raise TimeoutError(f"signal {number} of the process that started this one has not ended it")

    with open(lock, "w") as file, mock.patch.object(Termination, "take", take_and_continue):
        fcntl.flock(file, fcntl.LOCK_EX)
        with calls_after(step, saved, end_starter):
            main()


if __name__ == "__main__":
    _number, _step, _saved, _lock = os.environ[VARIABLE].split(maxsplit=3)
    _run(int(_number), int(_step), int(_saved), _lock)
