"""Signatures of models that go on with a text, and the numbers that they are asked with."""
