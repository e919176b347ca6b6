"""From sources to cleaned splits with a report."""
