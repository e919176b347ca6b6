"""What models give for a batch: losses, hits and weights, and the sums and means of them."""
