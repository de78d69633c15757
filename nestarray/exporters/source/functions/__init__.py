"""Functions that stand-alone source defines itself, one file per framework.

They are printed as they are, before the classes that call them.
"""
