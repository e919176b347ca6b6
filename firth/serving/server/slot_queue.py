"""Texts that wait for a slot, and the thread that writes them."""

import asyncio
import collections
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from firth.constraints.constraint_cache import Run
from firth.constraints.matcher import CompiledConstraint
from firth.recipes.generation.constraints import Constraint
from firth.serving.server.errors import RequestError
from firth.serving.slots.batcher import SlotPrompt, SlotText

Item = SlotText | Exception
# Constraints that are compiled at a time, and that wait for it.
_COMPILING, _WAITING = 2, 64


class StepError(Exception):
    """An error of a step that ends some texts only.

    Attributes:
        numbers: Numbers of the texts that cannot be continued.
        error: The exception that ends them.
    """

    def __init__(self, numbers: Collection[int], error: Exception) -> None:
        super().__init__(str(error))
        self.numbers, self.error = numbers, error


class Compiler(Protocol):
    """Compiles constraints for a model; see `firth.constraints.constraint_cache.ConstraintCache`."""

    def compiled(self, constraint: Constraint, finish: bool = False) -> CompiledConstraint:
        """Returns a constraint as matchers of the model's tokens need it."""

    def future(self, constraint: Constraint, finish: bool, run: Run) -> Future[CompiledConstraint]:
        """Returns the future of a constraint."""


class Batcher(Protocol):
    """Writes texts in slots; `ContinuousBatcher` is one, and its docstrings say what each method does."""

    @property
    def described(self) -> Mapping[str, Any]:
        """Facts of the slots, as `SlotSignatures.describe` gives them."""

    @property
    def constraints(self) -> Compiler:
        """Constraints that were compiled for the model."""

    @property
    def free(self) -> int:
        """Number of slots in which no text is written."""

    def join(self, prompt: SlotPrompt) -> int:
        """Lets a free slot read a prompt, and returns the number of its text."""

    def step(self) -> list[SlotText]:
        """Returns the texts that have a further token or an end.

        Raises:
            StepError: if some texts cannot be continued; after another exception, none can.
        """

    def end(self, number: int) -> None:
        """Ends a text."""


class SlotStream:
    """A text while it is written: it yields the text after each of its tokens, the last time with its end.

    Args:
        prompt: The prompt.
        deadline: Time of `time.monotonic` at which it ends unanswered.
    """

    def __init__(self, prompt: SlotPrompt, deadline: float | None) -> None:
        self.prompt, self.deadline, self.asked = prompt, deadline, time.monotonic()
        self.last = self.asked
        self.is_cancelled = False
        self._items: collections.deque[Item] = collections.deque()
        self._changed = threading.Condition()
        self._listener: Callable[[], object] | None = None

    def cancel(self) -> None:
        """Ends the text, and so frees its slot: nobody reads it any more."""
        self.is_cancelled = True

    def put(self, item: Item) -> None:
        """Hands on a text, or the exception that ends it."""
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()
            if self._listener is not None:
                self._listener()

    def __iter__(self) -> Iterator[SlotText]:
        """Yields texts; cancels when the reader goes away."""
        try:
            while True:
                with self._changed:
                    while not self._items:
                        self._changed.wait()
                    item = self._items.popleft()
                yield _text(item)
                if _is_last(item):
                    return
        finally:
            self.cancel()

    async def __aiter__(self) -> AsyncIterator[SlotText]:
        """Yields texts in an event loop; cancels when the reader goes away."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def listen() -> None:
            # The loop of a client that is gone may be closed, also between two lines.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(arrived.set)

        with self._changed:
            self._listener = listen
        try:
            while True:
                with self._changed:
                    item = self._items.popleft() if self._items else None
                    if item is None:
                        arrived.clear()
                if item is None:
                    await arrived.wait()
                    continue
                yield _text(item)
                if _is_last(item):
                    return
        finally:
            self.cancel()


class SlotQueue:
    """Writes the texts of one model in its slots. One thread drives them, since a step is of all slots.

    Args:
        batcher: The model's slots.
        max_queued: Most texts that wait for a slot.
        on_token: Function that is called with the seconds from a request to its first token, or from a token
            to the next, and whether it is the first.

    Attributes:
        described: What the model says about its slots; see `firth.serving.exported_model.read_description`.
        max_queued: Most texts that wait for a slot.
    """

    def __init__(
        self,
        batcher: Batcher,
        max_queued: int,
        on_token: Callable[[float, bool], None] = lambda seconds, is_first: None,
    ) -> None:
        self.described: Mapping[str, Any] = batcher.described
        self._batcher, self.max_queued, self._on_token = batcher, max_queued, on_token
        self._waiting: collections.deque[SlotStream] = collections.deque()
        self._written: dict[int, SlotStream] = {}
        self._changed = threading.Condition()
        self._is_closed = False
        self._compilers = ThreadPoolExecutor(_COMPILING, "constraints")
        self._compiling = 0
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def queued(self) -> int:
        """Number of texts that wait for a slot."""
        return len(self._waiting)

    @property
    def active(self) -> int:
        """Number of texts that are being written."""
        return len(self._written)

    def submit(self, prompt: SlotPrompt, timeout: float | None = None) -> SlotStream:
        """Returns the text that is written after a prompt, as soon as a slot is free.

        Args:
            prompt: The prompt.
            timeout: Seconds after which it ends with a 504.

        Raises:
            RequestError: 429 if too many texts wait, 503 if the model is being unloaded.
        """
        stream = SlotStream(prompt, None if timeout is None else time.monotonic() + timeout)
        with self._changed:
            if self._is_closed:
                raise RequestError("the model is being unloaded", 503)
            if len(self._waiting) >= self.max_queued:
                raise RequestError(f"{len(self._waiting)} texts wait already; ask again later", 429)
            self._waiting.append(stream)
            self._changed.notify_all()
        return stream

    def compile(self, constraint: Constraint, finish: bool = False) -> Future[CompiledConstraint]:
        """Returns a constraint as `SlotPrompt.constraint` takes it, at once if it was compiled before.

        Others are compiled in threads, one after another, and each once for all that wait for it.

        Args:
            constraint: The constraint.
            finish: True for only tokens after which the text can still be ended in time.

        Raises:
            ConstraintError: for a constraint that is nested too deep or has more than 1 MB.
            RequestError: 429 if too many wait to be compiled, 503 if the model is being unloaded.
        """
        return self._batcher.constraints.future(constraint, finish, self._compile)

    def _compile(self, work: Callable[[], None]) -> None:
        with self._changed:
            if self._is_closed:
                raise RequestError("the model is being unloaded", 503)
            if self._compiling >= _COMPILING + _WAITING:
                raise RequestError(f"{self._compiling} constraints are being compiled; ask again later", 429)
            self._compiling += 1
        self._compilers.submit(work).add_done_callback(self._compiled)

    def _compiled(self, future: Future[None]) -> None:
        with self._changed:
            self._compiling -= 1

    def close(self) -> None:
        """Writes what was taken to its end, and ends the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join()
        self._compilers.shutdown()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (self._waiting or self._written):
                    if self._is_closed:
                        return
                    self._changed.wait()
            self._drop()
            self._join()
            if self._written:
                self._step()

    def _drop(self) -> None:
        """Lets go of texts that nobody waits for any more, and of those that took too long."""
        now = time.monotonic()
        with self._changed:
            waiting = [each for each in self._waiting if not _is_over(each, now)]
            self._waiting = collections.deque(waiting)
        for number, stream in list(self._written.items()):
            if _is_over(stream, now):
                self._batcher.end(number)
                del self._written[number]

    def _join(self) -> None:
        while self._batcher.free:
            with self._changed:
                if not self._waiting:
                    return
                stream = self._waiting.popleft()
            try:
                self._written[self._batcher.join(stream.prompt)] = stream
            except ValueError as error:
                stream.put(RequestError(str(error)))
            except Exception as error:
                stream.put(error)

    def _step(self) -> None:
        try:
            texts = self._batcher.step()
        except StepError as error:
            self._fail(error.numbers, error.error)
            return
        except Exception as error:
            # All slots take part in a step, so that none of their texts can be continued.
            self._fail(list(self._written), error)
            return
        now = time.monotonic()
        for text in texts:
            stream = self._written.pop(text.number) if text.ended else self._written[text.number]
            self._on_token(now - stream.last, stream.last == stream.asked)
            stream.last = now
            stream.put(text)

    def _fail(self, numbers: Collection[int], error: Exception) -> None:
        """Ends texts with an exception."""
        for number in numbers:
            self._batcher.end(number)
            self._written.pop(number).put(error)


def _is_over(stream: SlotStream, now: float) -> bool:
    if not stream.is_cancelled and stream.deadline is not None and now > stream.deadline:
        stream.put(RequestError("the text took too long", 504))
        return True
    return stream.is_cancelled


def _text(item: Item) -> SlotText:
    if isinstance(item, Exception):
        raise item
    return item


def _is_last(item: Item) -> bool:
    return isinstance(item, Exception) or bool(item.ended)
