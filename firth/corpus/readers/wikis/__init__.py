"""Articles of wikis."""
