"""The table of the types of personal data, by their names in a recipe."""

from collections.abc import Callable

from firth.corpus.privacy.addresses import Ipv4Addresses, Ipv6Addresses
from firth.corpus.privacy.emails import Emails
from firth.corpus.privacy.finder import Finder
from firth.corpus.privacy.national_ids import NationalIds
from firth.corpus.privacy.numbers import CreditCards, Ibans
from firth.corpus.privacy.phones import Phones
from firth.corpus.privacy.secrets import Secrets
from firth.recipes.corpus.privacy import PiiStep

FINDERS: dict[str, Callable[[PiiStep], Finder]] = {
    "secret": Secrets,
    "email": Emails,
    "ipv6": Ipv6Addresses,
    "ipv4": Ipv4Addresses,
    "iban": Ibans,
    "credit_card": CreditCards,
    "national_id": NationalIds,
    "phone": Phones,
}
