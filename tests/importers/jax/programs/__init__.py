"""Whole models in the style of their libraries: tables for test_programs.py.

A row returns (source, arguments, keyword arguments) of `trace_graph`, for `train`.
"""
