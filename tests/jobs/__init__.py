"""Whole jobs, as users do them: one program of a hundred lines each, on the targets that make sense."""
