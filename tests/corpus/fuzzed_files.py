"""Files of every kind of source that something has gone wrong with, the same for the same seed."""

import os
import pathlib
import random

from firth.recipes.corpus.sources import AnySource
from tests.corpus.source_files import COMPRESS, FILES, TEXTS, arc

# Files for each name in `FUZZED`: a thousand in all.
FUZZED_FILES = int(os.environ.get("FIRTH_FUZZED_FILES", "112"))

# What a mutation may put in.
TROUBLE = (
    b"\r\n\r\nWARC/1.0\r\nContent-Length: 99999999999\r\n\r\n",
    b"</doc>",
    b"<doc url=",
    b"\n",
    b"<div>" * 3000,
    b"\xff\xfe",
    b"\0" * 99,
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b'"' * 9,
    b"-1",
    b"[" * 2000,
)


def mutate(data: bytes, generator: random.Random) -> bytes:
    """Returns the data with some bytes changed, a part cut out, doubled or filled, or its end cut off."""
    mutated = bytearray(data)
    for _ in range(generator.choice((1, 1, 3, 20))):
        place = generator.randrange(max(len(mutated), 1))
        end = place + generator.choice((1, 4, 50, len(data)))
        action = generator.randrange(6)
        if action == 0:
            mutated[place:end] = generator.randbytes(len(mutated[place:end]))
        elif action == 1:
            del mutated[place:end]
        elif action == 2:
            mutated[place:place] = mutated[place : place + 200]
        elif action == 3:
            mutated[place:end] = bytes(len(mutated[place:end]))
        elif action == 4:
            mutated[place:place] = generator.choice(TROUBLE)
        elif mutated:
            mutated[place] ^= 1 << generator.randrange(8)
    return bytes(mutated)


# Kinds, and another format that one of them reads: name, kind, and how a file of it is made.
FUZZED = {kind: (kind, make_file) for kind, (_, make_file) in FILES.items()} | {"arc": ("warc", arc)}


def fuzzed(folder: pathlib.Path, name: str, seed: int) -> AnySource:
    """Writes one mutated file, and returns a source of it, named after both."""
    generator = random.Random(f"{name} {seed}")
    kind, make_file = FUZZED[name]
    suffix = generator.choice(list(COMPRESS)) if kind != "parquet" else ""
    path = folder / f"{seed}.{name}{suffix if generator.random() < 0.8 else ''}"
    inside = generator.random() < 0.7
    data = make_file(TEXTS)
    data = COMPRESS[suffix](mutate(data, generator)) if inside else mutate(COMPRESS[suffix](data), generator)
    path.write_bytes(data)
    longest = generator.choice((300, 10**6))
    return FILES[kind][0](kind=kind, name=f"{name}-{seed}", paths=(str(path),), max_document_bytes=longest)
