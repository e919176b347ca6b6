"""Workers of Beam that are started by a runner on other machines, or in processes of their own."""
