"""The ops as users import them, with types that say what comes out of what goes in.

An op's own annotations say ``Array``, which is all that the library itself needs: no checker
can follow one function over Containers and the arrays of four frameworks from that. The stub
beside this file, which docs/generate_stubs.py writes, has an overload for each kind. It is for
this module alone, so that bodies of ops are checked as fast as they were written.
"""

from nestarray.ops import *
from nestarray.ops import __all__ as __all__
