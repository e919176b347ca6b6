"""Detection and replacement of personal data and secret keys."""
