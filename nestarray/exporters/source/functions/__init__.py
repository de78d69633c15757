"""Functions that stand-alone source defines itself, one file per framework.

They are printed unchanged, before the classes that call them, and have no annotations, as these have
none.
"""
