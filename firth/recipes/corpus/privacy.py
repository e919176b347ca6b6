"""Personal data and secrets, and their replacements."""

from typing import Annotated, Literal, get_args

import pydantic

from firth.recipes.corpus.step import CleaningStep, PhoneRegion

# The former of two that overlap is taken.
PiiType = Literal["secret", "email", "ipv6", "ipv4", "iban", "credit_card", "national_id", "phone"]
PII_TYPES: tuple[PiiType, ...] = get_args(PiiType)
# fmt: off
IdCountry = Literal[
    "AR", "AT", "AU", "BE", "BG", "BR", "CA", "CH", "CL", "CN", "CO", "CZ", "DE", "DK", "DO", "EC", "EE",
    "EG", "ES", "FI", "FR", "GB", "GR", "HK", "HR", "HU", "ID", "IE", "IL", "IN", "IS", "IT", "JP", "KR",
    "KZ", "LT", "LV", "MX", "MY", "NL", "NO", "NZ", "PK", "PL", "PT", "RO", "RS", "RU", "SE", "SG", "SI",
    "SK", "TH", "TR", "TW", "UA", "US", "UY", "ZA",
]
# fmt: on
ID_COUNTRIES: tuple[IdCountry, ...] = get_args(IdCountry)


class PiiStep(CleaningStep):
    """Replaces personal data and keys; no document is dropped.

    Those in a document's address and licence are replaced when the cleaned documents are written.
    """

    kind: Literal["pii"]
    types: Annotated[tuple[PiiType, ...], pydantic.Field(min_length=1)] = PII_TYPES
    """Types of personal data that are looked for."""
    replacement: Literal["placeholder", "surrogate"] = "placeholder"
    """Replacement: a `placeholder` such as `<EMAIL>`, or a `surrogate`, which has characters of the same
    kinds in the same places but is not a valid value itself. A value has the same surrogate everywhere,
    whatever the order of documents."""
    seed: int = 0
    """Seed of the surrogates. Whoever knows it can try values until one yields a surrogate, so keep it secret
    where that matters."""
    phone_regions: tuple[PhoneRegion, ...] = ("US",)
    """ISO 3166-1 codes of the countries whose phone numbers are known without `+` and country code."""
    id_countries: tuple[IdCountry, ...] = ID_COUNTRIES
    """ISO 3166-1 codes of the countries whose national numbers are looked for."""
    private_addresses: bool = False
    """True to replace the IP addresses of private networks too."""
    metadata: Literal["scrub", "keep"] = "scrub"
    """Treatment of personal data in addresses and licences of documents, and in the licences that reports
    name: `scrub` replaces them as those in texts, `keep` leaves them."""
    min_secret_entropy: float = pydantic.Field(default=3.0, ge=0.0, le=8.0)
    """Least entropy, in bits a character, of a secret that is assigned to a name such as `password`."""

    @property
    def privacy(self) -> "PiiStep":  # type: ignore[override]
        """Itself."""
        return self
