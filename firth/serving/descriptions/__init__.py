"""What an exported model says about its signatures: how it is written, checked and told."""
