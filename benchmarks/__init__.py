"""Benchmarks of nestarray against the frameworks and other libraries, in the same run."""
