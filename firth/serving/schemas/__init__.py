"""Signatures that write texts by a schema that is a part of the model."""
