"""The types of downstream tasks."""
