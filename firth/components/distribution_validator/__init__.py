"""DistributionValidator: stops where data have drifted from those of the last run, or from requests."""
