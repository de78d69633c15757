"""Benchmarks: nestarray beside the frameworks themselves and other libraries, in one run."""
