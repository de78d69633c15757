"""Containers to and from the parameter trees of other libraries, one file for each library."""
