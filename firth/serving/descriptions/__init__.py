"""The description of an exported model: written, read and printed."""
