"""Constraints as grammars of llguidance, read in a process of its own within limits."""

import atexit
import functools
import json
import os
import re
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from firth.constraints.matcher import ConstraintError, LimitError
from firth.constraints.schemas import MOST_BYTES, check_depth, checked_schema
from firth.constraints.token_bytes import SINGLE_BYTES, TokenBytes
from firth.lazy import import_extra
from firth.recipes.generation.constraints import Constraint, JsonSchema
from firth.recipes.generation.request import GenerationRequest

MOST_SECONDS = 5
# Memory of the process that reads.
_MOST_MEMORY = 2 * 2**30
# A value may follow one space, since pieces carry it. JSON begins with none.
_OUTER = 'start: " "? @value'
# Keys and texts have one spelling: another one of a key would be a property that was there before.
_ESCAPES = {"json_allowed_escapes": '"\\bfnrt'}
# Where there is a parser of IRIs, jsonschema imports it, which takes two seconds. The process that reads
# constraints checks no formats.
_WITHOUT_IRIS = "import sys; sys.modules['rfc3987_syntax'] = None"
# Tokens by their names or numbers, which are not let through.
_TOKENS = re.compile(r"<[\[|\w]|‹|%json")


@functools.lru_cache(1)
def llguidance() -> Any:
    """Returns the package llguidance.

    Raises:
        ConstraintError: without the extra `structured`.
    """
    (library,) = import_extra(ConstraintError, "structured", "llguidance")
    return library


class _Vocabulary:
    """A vocabulary in the form that llguidance reads."""

    bos_token_id = None

    def __init__(self, tokens: TokenBytes) -> None:
        self.eos_token_id = tokens.end_id
        texts = set(tokens.texts)
        # llguidance reads bytes that a constraint forces as tokens, whether a token has them alone or not.
        # Rows after those of the model do, and are never let through.
        self.missing = [each for each in map(bytes, zip(range(256))) if each not in texts]
        rows = (*tokens.texts, *self.missing)
        self.tokens = [b"<%d>" % row if text is None else text for row, text in enumerate(rows)]
        self.special_token_ids = [row for row, text in enumerate(rows) if text is None]
        self._ids = {text: row for row, text in enumerate(rows) if text is not None}
        self._longest = max(map(len, self._ids), default=0)

    def __call__(self, text: bytes | str) -> list[int]:
        """Returns the tokens of a stretch that llguidance forces: at each place the longest."""
        rest, ids = text.encode() if isinstance(text, str) else text, []
        while rest:
            sizes = range(min(self._longest, len(rest)), 0, -1)
            size = next(size for size in sizes if rest[:size] in self._ids)
            ids.append(self._ids[rest[:size]])
            rest = rest[size:]
        return ids


@functools.lru_cache(8)
def llguidance_tokenizer(tokens: TokenBytes) -> tuple[Any, Sequence[bytes]]:
    """Returns the tokenizer of llguidance, and the bytes of its rows that the model does not have."""
    vocabulary = _Vocabulary(tokens)
    library = llguidance()
    made = library.LLTokenizer(library.TokenizerWrapper(vocabulary), n_vocab=len(vocabulary.tokens))
    return made, vocabulary.missing


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
        self._asked = 0

    def read(self, key: str) -> str:
        """Returns the grammar of a constraint."""
        kind = json.loads(key)["kind"]
        with self._using:
            try:
                answer = self._answer(self._started(), key)
            except TimeoutError:
                self._end()
                raise LimitError(f"{kind}: it is not read within {MOST_SECONDS} seconds") from None
            except (EOFError, OSError):
                self._end()
                most = f"{_MOST_MEMORY >> 30} GiB of memory"
                raise LimitError(f"{kind}: the process that reads it has ended; it has {most}") from None
            except BaseException:
                # The answer that is on its way would be taken for the next one's.
                self._end()
                raise
        if "error" in answer:
            raise ConstraintError(answer["error"])
        return str(answer["grammar"])

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{_WITHOUT_IRIS}; from {__name__} import main; main()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            atexit.register(self._end)
            # Its start does not count.
            self._read_line(self._process, 60)
        return self._process

    def _answer(self, process: "subprocess.Popen[bytes]", key: str) -> Any:
        assert process.stdin is not None
        self._asked += 1
        process.stdin.write(b"[%d,%s]\n" % (self._asked, key.encode()))
        process.stdin.flush()
        number, answer = json.loads(self._read_line(process, MOST_SECONDS))
        if number != self._asked:
            raise EOFError
        return answer

    @staticmethod
    def _read_line(process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
        assert process.stdout is not None
        file, found, last = process.stdout.fileno(), bytearray(), time.monotonic() + seconds
        while not found.endswith(b"\n"):
            waiting = select.poll()
            waiting.register(file, select.POLLIN)
            if not waiting.poll(1e3 * max(0.0, last - time.monotonic())):
                raise TimeoutError
            part = os.read(file, 2**16)
            if not part:
                raise EOFError
            found += part
        return bytes(found)

    def _end(self) -> None:
        atexit.unregister(self._end)
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_READER = _Reader()


def main() -> None:
    """Reads constraints and writes their grammars, a line each, in the process that `read_grammar` starts."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    # The first schema loads what the next ones need, which does not count as their time.
    _grammar_of(JsonSchema(json_schema={"type": "string", "pattern": "a"}))
    print("{}", flush=True)
    for line in sys.stdin:
        answer: dict[str, str] = {}
        number, asked = json.loads(line)
        constraint = GenerationRequest.of({"constraint": asked}).constraint
        assert constraint is not None
        try:
            answer["grammar"] = _grammar_of(constraint)
        except RecursionError:
            answer["error"] = "json_schema: it is nested too deep"
        except ConstraintError as error:
            answer["error"] = str(error)
        print(json.dumps([number, answer]), flush=True)


def _grammar_of(constraint: Constraint) -> str:
    made = json.dumps({"grammars": _grammars(constraint)})
    _first_mask(constraint, made)
    return made


def _first_mask(constraint: Constraint, grammar: str) -> bytes:
    matcher = llguidance().LLMatcher(llguidance_tokenizer(SINGLE_BYTES)[0], grammar, log_level=0)
    mask = b"" if matcher.is_error() else matcher.compute_bitmask()
    if matcher.is_error():
        raise ConstraintError(f"{constraint.kind}: {reason(matcher.get_error())}")
    return bytes(mask)


def _json_grammar(constraint: JsonSchema) -> Mapping[str, Any]:
    schema = checked_schema(constraint.json_schema, _problem_of_pattern)
    # The key `x-guidance` is read at the root alone.
    root = {"allOf": [schema]} if isinstance(schema, bool) else schema
    return {"json_schema": {**root, "x-guidance": _options(constraint.white_space)}}


def _options(white_space: str | int) -> Mapping[str, Any]:
    if white_space == "compact":
        return {**_ESCAPES, "whitespace_flexible": False}
    if white_space == "single":
        separators = {"item_separator": ", ", "key_separator": ": "}
        return {**_ESCAPES, "whitespace_flexible": False, **separators}
    pattern = rf"[\x20\x0A\x0D\x09]{{1,{white_space}}}"
    return {**_ESCAPES, "whitespace_flexible": True, "whitespace_pattern": pattern}


def _grammars(constraint: Constraint) -> list[Mapping[str, Any]]:
    """Returns the grammars of a constraint: a valid text after one space, or alone if it begins with none.

    So whoever takes one space off the text has a valid one.
    """
    if constraint.of_json is not None:
        return [{"lark_grammar": _OUTER}, {"name": "value", **_json_grammar(constraint.of_json)}]
    if constraint.expression is not None:
        grammar = json.loads(llguidance().LLMatcher.grammar_from_regex(constraint.expression))
        whole = grammar["grammars"][0]["lark_grammar"].removeprefix("start: ").strip()
        lines = ['start: " " VALUE | OWN', f"VALUE: {whole}", f"OWN: {whole} & /(?s:([^ ].*)?)/"]
        return [{"lark_grammar": "\n".join(lines)}]
    if constraint.texts:
        # One that begins with a space comes after another one alone.
        kept = [f" {each}" for each in constraint.texts]
        kept += [each for each in constraint.texts if not each.startswith(" ")]
        return [{"lark_grammar": f"start: {' | '.join(map(_quoted, dict.fromkeys(kept)))}"}]
    assert constraint.lark is not None
    if _TOKENS.search(constraint.lark):
        raise ConstraintError("grammar: tokens by their names and %json are unsupported; give their texts")
    value = {"name": "value", "lark_grammar": constraint.lark}
    if _first_mask(constraint, json.dumps({"grammars": [value]}))[ord(" ") // 8] & 1 << ord(" ") % 8:
        raise ConstraintError("grammar: its texts may begin with a space, which pieces carry; let none do")
    return [{"lark_grammar": _OUTER}, value]


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
