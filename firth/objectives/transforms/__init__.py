"""What objectives are made of: pure functions of tokens and a seed."""
