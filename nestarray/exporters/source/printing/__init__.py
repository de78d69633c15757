"""Calls, bodies and constants as Python text."""
