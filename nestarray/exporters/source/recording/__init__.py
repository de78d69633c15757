"""The public calls of a framework that a graph makes."""
