"""The cleaned corpus in formats that others read."""
