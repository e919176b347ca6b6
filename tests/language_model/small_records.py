"""Texts and labelled records that small models read."""

TEXTS = ["the cat sat", "on the mat", "a word by company", "it keeps you"]
REVIEWS = [{"text": text, "label": "yes" if "the" in text else "no"} for text in TEXTS * 4]
