"""What all other layers are made of."""
