"""Finds of presidio's recognisers and detect-secrets in texts, in an interpreter of its own.

Reads a JSON text a line; writes a list of [start, end, type, score] for each.
"""

import inspect
import json
import sys
import tempfile

from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
from presidio_analyzer import EntityRecognizer, PatternRecognizer, predefined_recognizers

TYPES = {
    "PHONE_NUMBER": ("phone",),
    "EMAIL_ADDRESS": ("email",),
    "IBAN_CODE": ("iban",),
    "CREDIT_CARD": ("credit_card",),
    "IP_ADDRESS": ("ipv4", "ipv6"),
}
# Not personal data, or of no type of the table.
LEFT_OUT = {"URL", "DATE_TIME", "MAC_ADDRESS", "CRYPTO"}


def recognisers() -> list:
    """All that look for patterns, of every country; those of language models look for names."""
    made = []
    for _, kind in inspect.getmembers(predefined_recognizers, inspect.isclass):
        patterns = (PatternRecognizer, predefined_recognizers.PhoneRecognizer)
        if issubclass(kind, patterns) and issubclass(kind, EntityRecognizer):
            made.append(kind())
    return made


def main() -> None:
    every = recognisers()
    for line in sys.stdin:
        text = json.loads(line)
        found = []
        for each in every:
            for entity in each.analyze(text, each.supported_entities, None) or []:
                if entity.entity_type not in LEFT_OUT:
                    types = TYPES.get(entity.entity_type, ("national_id",))
                    found += [[entity.start, entity.end, kind, entity.score] for kind in types]
        print(json.dumps([*found, *secrets(text)]))


def secrets(text: str) -> list:
    """Those of detect-secrets as it scans files."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file, default_settings():
        file.write(text)
        file.flush()
        found = SecretsCollection()
        found.scan_file(file.name)
    values = [secret.secret_value for _, secret in found if secret.secret_value]
    return [[text.find(value), text.find(value) + len(value), "secret", 1.0] for value in values]


if __name__ == "__main__":
    main()
