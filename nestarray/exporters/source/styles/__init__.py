"""Classes and functions of each framework."""
