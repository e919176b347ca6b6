"""Bundles that an engine of `firth.generation` runs, such as CTranslate2, without an export."""
