"""Constraints as grammars of llguidance, read in a process of its own within limits."""

import atexit
import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from firth.constraints.llguidance_vocabulary import llguidance, llguidance_tokenizer
from firth.constraints.matcher import ConstraintError
from firth.constraints.schemas import MOST_BYTES, check_depth, checked_schema
from firth.constraints.token_bytes import SINGLE_BYTES
from firth.recipes.generation.constraints import Constraint, JsonSchema
from firth.recipes.generation.request import GenerationRequest

MOST_SECONDS = 5
# Memory of the process that reads.
_MOST_MEMORY = 2 * 2**30
# A value may follow one space, since pieces carry it.
_OUTER = 'start: " "? @value'


def constraint_key(constraint: Constraint) -> str:
    """Returns the JSON of a constraint, which differs between any two that hold a text to something else.

    Raises:
        ConstraintError: for a schema that is nested too deep or has texts that are no Unicode, and for more
            than 1 MB.
    """
    if constraint.of_json is not None:
        check_depth(constraint.of_json.json_schema, "#")
    # The order of properties is a part of a schema.
    written = json.dumps(constraint.model_dump())
    if len(written) > MOST_BYTES:
        raise ConstraintError(f"{constraint.kind}: it has {len(written):,} bytes, more than {MOST_BYTES:,}")
    return written


def read_grammar(key: str) -> str:
    """Returns the grammar of a constraint, which llguidance has read once within the limits.

    Args:
        key: JSON of the constraint, of `constraint_key`.

    Raises:
        ConstraintError: for a constraint that is not valid, that would be followed inexactly, or that takes
            more than `MOST_SECONDS` to read.
    """
    llguidance()
    return _READER.read(key)


class _Reader:
    """A process that reads constraints one after another. One that takes too long ends it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._using = threading.Lock()

    def read(self, key: str) -> str:
        """Returns the grammar of a constraint."""
        kind = json.loads(key)["kind"]
        with self._using:
            process = self._started()
            try:
                answer = self._answer(process, key)
            except TimeoutError:
                self._end(process)
                raise ConstraintError(f"{kind}: it is not read within {MOST_SECONDS} seconds") from None
            except (EOFError, OSError):
                self._end(process)
                most = f"{_MOST_MEMORY >> 30} GiB of memory"
                raise ConstraintError(f"{kind}: the process that reads it has ended; it has {most}") from None
        if "error" in answer:
            raise ConstraintError(answer["error"])
        return str(answer["grammar"])

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import main; main()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            atexit.register(self._end, self._process)
            # Its start does not count.
            self._read_line(self._process, 60)
        return self._process

    def _answer(self, process: "subprocess.Popen[bytes]", key: str) -> Any:
        assert process.stdin is not None
        process.stdin.write(key.encode() + b"\n")
        process.stdin.flush()
        return json.loads(self._read_line(process, MOST_SECONDS))

    @staticmethod
    def _read_line(process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
        assert process.stdout is not None
        file, found, last = process.stdout.fileno(), bytearray(), time.monotonic() + seconds
        while not found.endswith(b"\n"):
            if not select.select([file], [], [], max(0.0, last - time.monotonic()))[0]:
                raise TimeoutError
            part = os.read(file, 2**16)
            if not part:
                raise EOFError
            found += part
        return bytes(found)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        atexit.unregister(self._end)
        process.kill()
        process.communicate()
        self._process = None


_READER = _Reader()


def main() -> None:
    """Reads constraints and writes their grammars, a line each, in the process that `read_grammar` starts."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    # The first schema loads what the next ones need; that is no part of their time.
    _grammar_of(JsonSchema(json_schema={"type": "string", "pattern": "a"}))
    print("{}", flush=True)
    for line in sys.stdin:
        answer: dict[str, str] = {}
        constraint = GenerationRequest.of({"constraint": json.loads(line)}).constraint
        assert constraint is not None
        try:
            answer["grammar"] = _grammar_of(constraint)
        except RecursionError:
            answer["error"] = "json_schema: it is nested too deep"
        except ConstraintError as error:
            answer["error"] = str(error)
        print(json.dumps(answer), flush=True)


def _grammar_of(constraint: Constraint) -> str:
    grammars = [{"lark_grammar": _OUTER}, {"name": "value", **_inner_grammar(constraint)}]
    made = json.dumps({"grammars": grammars})
    matcher = llguidance().LLMatcher(llguidance_tokenizer(SINGLE_BYTES)[0], made, log_level=0)
    if not matcher.is_error():
        matcher.compute_bitmask()
    if matcher.is_error():
        raise ConstraintError(f"{constraint.kind}: {reason(matcher.get_error())}")
    return made


def _json_grammar(constraint: JsonSchema) -> Mapping[str, Any]:
    schema = checked_schema(constraint.json_schema, _problem_of_pattern)
    # The key `x-guidance` is read at the root alone.
    root = {"allOf": [schema]} if isinstance(schema, bool) else schema
    return {"json_schema": {**root, "x-guidance": _white_space_options(constraint.white_space)}}


def _white_space_options(white_space: str | int) -> Mapping[str, Any]:
    if white_space == "compact":
        return {"whitespace_flexible": False}
    if white_space == "single":
        return {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return {"whitespace_flexible": True, "whitespace_pattern": rf"[\x20\x0A\x0D\x09]{{1,{white_space}}}"}


def _inner_grammar(constraint: Constraint) -> Mapping[str, Any]:
    if constraint.of_json is not None:
        return _json_grammar(constraint.of_json)
    if constraint.expression is not None:
        grammar = json.loads(llguidance().LLMatcher.grammar_from_regex(constraint.expression))
        return {"lark_grammar": grammar["grammars"][0]["lark_grammar"]}
    if constraint.texts:
        return {"lark_grammar": f"start: {' | '.join(map(_quoted, constraint.texts))}"}
    return {"lark_grammar": constraint.lark}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _problem_of_pattern(pattern: str) -> str:
    matcher = llguidance().LLMatcher
    schema = json.dumps({"type": "string", "pattern": pattern})
    is_error, messages = matcher.validate_grammar_with_warnings(matcher.grammar_from_json_schema(schema))
    return reason(messages[0]) if is_error else ""


def reason(error: str) -> str:
    """Returns the line of llguidance's error that says why."""
    lines = error.strip().splitlines() or [""]
    # A regular expression is drawn with the place below it, and the reason comes last.
    return next((each.strip() for each in reversed(lines) if each.strip().startswith("error:")), lines[0])
