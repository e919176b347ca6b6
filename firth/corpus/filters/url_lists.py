"""The step that drops documents by lists of domains, hosts and addresses."""

import functools
import re
import uuid
from collections.abc import Mapping
from typing import NamedTuple

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.io.file_contents import read_list
from firth.corpus.text.web_addresses import (
    canonical_host,
    canonical_path,
    domains_of,
    host_of,
    path_of,
)
from firth.recipes.corpus.domains import UrlListsStep

_COMMENT = re.compile(r"(?:^|\s)#.*")
_ENTRY = re.compile(
    r"(?:https?:)?(?://)?(?:[^/@\s]*@)?(?:\*?\.)?([^/?#:@\s*]+)(?::\d+)?(/\S*)?", re.IGNORECASE
)
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_LISTS_HELD = 64


class UrlEntries(NamedTuple):
    """The entries of a list.

    Attributes:
        hosts: Hosts and domains in the form of `canonical_host`.
        paths: Beginnings of paths by host or domain, in the form of `canonical_path`.
    """

    hosts: frozenset[str]
    paths: Mapping[str, tuple[str, ...]]

    def has(self, host: str, path: str) -> bool:
        """Returns whether an address is on the list."""
        return any(
            domain in self.hosts or (path or "/").startswith(self.paths.get(domain, ()))
            for domain in domains_of(host)
        )


class UrlLists(DocumentStep[UrlListsStep]):
    """Drops documents whose address is on a list (`blocked_<name>`), or not on one (`not_allowed`).

    Documents without a URL are dropped as `no_url` with `without_url: drop`, and kept otherwise. The count
    `allowed` is that of documents that `allow` kept from being dropped. Each process reads the lists once.

    Raises:
        CorpusError: on construction, if a list cannot be read, is empty, or has a line that is not an entry;
            the message names file and line.
    """

    def __init__(self, config: UrlListsStep) -> None:
        super().__init__(config)
        blocked = (f"blocked_{each.name}" for each in config.block)
        self.reasons = frozenset({"not_allowed", "no_url", *blocked})
        # The same path may have other content when another step is made.
        self._made = uuid.uuid4().hex
        for path in (*(each.path for each in config.block), *config.allow):
            read_url_list(path, self._made)

    def decide(self, document: Document) -> Decision:  # noqa: D102
        config, host = self._config, host_of(document.uri)
        if not host:
            return Keep(document) if config.without_url == "keep" else Drop("no_url")
        path = path_of(document.uri)
        reason = next(
            (f"blocked_{each.name}" for each in config.block if self._has(each.path, host, path)), None
        )
        if not reason and not config.only_allowed:
            return Keep(document)
        if any(self._has(each, host, path) for each in config.allow):
            return Keep(document, {"allowed": 1} if reason else {})
        return Drop(reason or "not_allowed")

    def _has(self, list_path: str, host: str, path: str) -> bool:
        return read_url_list(list_path, self._made).has(host, path)


@functools.lru_cache(_LISTS_HELD)
def read_url_list(path: str, made: str) -> UrlEntries:
    """Returns the entries of a list, which is read once in a process."""
    hosts: set[str] = set()
    paths: dict[str, list[str]] = {}
    for number, line in read_list(path):
        text = _COMMENT.sub("", line).strip()
        if not text:
            continue
        entry = _ENTRY.fullmatch(text)
        host = canonical_host(entry[1]) if entry else ""
        if not entry or not _HOST.fullmatch(host):
            near = text.split()[-1]
            hint = f"; did you mean {near}?" if _ENTRY.fullmatch(near) and near != text else ""
            what = "a domain, a host or the beginning of a URL such as example.com/forum/"
            raise CorpusError(f"{path}, line {number}: {text[:80]!r} is not {what}{hint}")
        if entry[2] in (None, "/"):
            hosts.add(host)
        else:
            paths.setdefault(host, []).append(canonical_path(entry[2]))
    if not hosts and not paths:
        raise CorpusError(f"{path} has no entry")
    return UrlEntries(frozenset(hosts), {host: tuple(each) for host, each in paths.items()})
