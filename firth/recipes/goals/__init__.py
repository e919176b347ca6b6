"""The facts that every objective and every task states about itself."""
