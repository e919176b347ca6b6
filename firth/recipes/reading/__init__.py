"""From files and options to a recipe, with what is said when they are wrong."""
