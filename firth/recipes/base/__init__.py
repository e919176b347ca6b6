"""What every recipe type shares, and how YAML is read."""
