"""Logs of a server: an object of JSON a line, about requests and versions, never with a text of theirs."""

import datetime
import json
import logging
import re
import sys
import traceback
import uuid
from typing import Any, TextIO

_LOGGER = logging.getLogger("firth.server")
_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


def log(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Logs an event.

    Args:
        event: Its name.
        level: Its level, as `logging` has them.
        fields: What there is to say about it; no texts of requests.
    """
    _LOGGER.log(level, event, extra={"fields": fields})


def log_failure(error: BaseException, **fields: Any) -> None:
    """Logs an error that nobody expected by its type and the places of the sources that it went through.

    Its sentence may hold texts of the request.
    """
    places = [f"{each.filename}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)]
    log("failure", logging.ERROR, error=type(error).__name__, places=places[-8:], **fields)


def request_id(given: str | None) -> str:
    r"""Returns the id of a request: that of the client where it is a plain one, or else a new one.

    Example:

    >>> request_id("a-1"), len(request_id("a\\nb")), len(request_id(None))
    ('a-1', 32, 32)
    """
    return given if given is not None and _ID.fullmatch(given) else uuid.uuid4().hex


def log_to_stream(stream: TextIO | None = None) -> None:
    """Writes the logs to a stream.

    Args:
        stream: The stream; None for standard error as it is now.
    """
    handler = _OpenStreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(_JsonLines())
    for name in (_LOGGER.name, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == _LOGGER.name else logging.WARNING)


class _OpenStreamHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to a stream until it is closed, as that of a caller may be before the process ends."""

    def emit(self, record: logging.LogRecord) -> None:
        if not self.stream.closed:
            super().emit(record)


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc)
        # A traceback shows the sentence of an error, and so maybe a text.
        error = {"error": record.exc_info[0].__name__} if record.exc_info and record.exc_info[0] else {}
        line = {
            "time": time.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
            **error,
        }
        return json.dumps(line, ensure_ascii=False, default=str)
