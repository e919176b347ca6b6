"""Heads of downstream tasks."""
