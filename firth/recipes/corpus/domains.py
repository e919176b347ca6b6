"""Rules for domains of web pages: which are dropped, and how much is kept of one."""

import re
from typing import Annotated, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.sources import SourceName
from firth.recipes.corpus.step import CleaningStep

_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?")
# A URL or the beginning of one, with its host as the group.
_ADDRESS = re.compile(r"(?:\w+:)?(?://)?(?:[^/@\s]*@)?(?:\*?\.)?([^/?#:@\s*]+)")
Limit = Annotated[int | None, pydantic.Field(ge=1)]


def _check_domain(name: str) -> str:
    if _NAME.fullmatch(name):
        return name
    found = _ADDRESS.match(name.strip())
    hint = f"did you mean {found[1]}?" if found and _NAME.fullmatch(found[1]) else "such as example.com"
    raise ValueError(f"{name!r} is not a domain or host; {hint}")


class DomainCap(Config):
    """Most that is kept of a domain."""

    max_documents: Limit = None
    """Number of documents."""
    max_words: Limit = None
    """Number of their words."""
    max_bytes: Limit = None
    """Number of their bytes in UTF-8."""

    @property
    def limits(self) -> dict[str, int]:
        """The limits that are given, by the name of their key."""
        return {name: limit for name in DomainCap.model_fields if (limit := getattr(self, name)) is not None}


class EachDomainCap(DomainCap):
    """Most that is kept of every single domain."""

    @pydantic.model_validator(mode="after")
    def _limits_something(self) -> "EachDomainCap":
        if not self.limits:
            raise ValueError(f"limits nothing: give one of {', '.join(DomainCap.model_fields)}")
        return self


class DomainRule(DomainCap):
    """Limit or verdict for the documents of one domain and its subdomains."""

    domain: Annotated[str, pydantic.AfterValidator(_check_domain)]
    """Name of the domain or host, in letters or in the form `xn--`."""
    action: Literal["keep", "drop"] = "keep"
    """`keep`, up to the limits if there are any, or `drop`."""

    @pydantic.model_validator(mode="after")
    def _keeps_or_drops(self) -> "DomainRule":
        if self.action == "drop" and self.limits:
            raise ValueError(f"{next(iter(self.limits))}: nothing is kept of a domain with action: drop")
        return self


class DomainRulesStep(CleaningStep):
    """Drops the documents of some domains, and those of a domain beyond a number, by the addresses of pages.

    The rule of the most special domain counts: with rules for `example.com` and `news.example.com`, a page of
    `a.news.example.com` follows the latter alone. Documents that are not from the web are kept.

    Which documents of a domain are kept does not depend on their order or on the workers: they are taken in
    the order of a hash of the seed and of their ids, until the next one would exceed a limit. A document that
    exceeds a limit on its own is dropped and takes no part. With the same seed, a larger limit on documents
    keeps what a smaller one keeps. The step belongs after those that drop duplicates.
    """

    kind: Literal["domain_rules"]
    rules: tuple[DomainRule, ...] = ()
    """Rules, at most one for each domain."""
    each_domain: EachDomainCap | None = None
    """Limits of every domain that no rule is for. A domain is what was registered, such as `example.co.uk`
    with all its hosts."""
    seed: int = pydantic.Field(default=0, ge=0, lt=2**31)
    """Seed of the hash."""

    @pydantic.model_validator(mode="after")
    def _does_something(self) -> "DomainRulesStep":
        names = [rule.domain.lower().rstrip(".") for rule in self.rules]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"rules: {twice!r} is there twice")
        if not self.each_domain and not any(rule.limits or rule.action == "drop" for rule in self.rules):
            raise ValueError("drops nothing: give a rule action: drop or a limit, or set each_domain")
        return self


class UrlList(Config):
    """Domains, hosts and beginnings of URLs in a file, one a line."""

    path: Annotated[str, NamesFiles()]
    """Path of the file, compressed or not, on any of Beam's file systems."""
    name: SourceName = "url"
    """Name of the list in the report, such as `adult`, where the reason is `blocked_adult`."""


class UrlListsStep(CleaningStep):
    """Drops documents by the addresses of their pages.

    A domain or host on a list includes its subdomains, and `example.com/forum/` for all addresses that
    begin so, on the host or a subdomain. Scheme, user, port and letter case of the host do not count.
    International names may be written in letters or in the form `xn--`, and paths in letters or with percent
    signs. What follows a `#`, at the beginning
    of a line or after a space, is a comment.
    """

    kind: Literal["url_lists"]
    block: tuple[UrlList, ...] = ()
    """Lists of what is dropped."""
    allow: Annotated[tuple[str, ...], NamesFiles()] = ()
    """Paths of lists of what is not dropped although a list of `block` has it."""
    only_allowed: bool = False
    """True to drop everything that no list of `allow` has."""
    without_url: Literal["keep", "drop"] = "keep"
    """Treatment of documents whose address is not a URL of `http` or `https`."""

    @pydantic.model_validator(mode="after")
    def _does_something(self) -> "UrlListsStep":
        if not self.block and not self.only_allowed:
            raise ValueError("drops nothing: name lists under block, or set only_allowed: true")
        if self.only_allowed and not self.allow:
            raise ValueError("only_allowed: drops everything without a list under allow")
        return self
