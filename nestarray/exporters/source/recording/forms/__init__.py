"""The public form of ops, one file per framework.

A backend's own function may be a faster or a more exact one than users write. The functions
here have the names and signatures of ops and are written as people write them; they take
precedence in a recording.
"""
