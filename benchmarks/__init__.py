"""Speed beside peers: same work, same run, medians and ratios."""
