"""Speed next to peers: same work, same run, medians and ratios."""
