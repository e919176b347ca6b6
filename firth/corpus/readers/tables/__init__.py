"""Sources of tables: separated values and Arrow."""
