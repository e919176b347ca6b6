"""Workers of Beam: forked on this machine, or started by a runner in processes of their own."""
