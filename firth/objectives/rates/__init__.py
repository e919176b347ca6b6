"""What objectives really did, measured, and what they may have done."""
