"""Upstream: https://numpy.org/doc/stable/reference/routines.lib.html"""

from nestarray.frontends.numpy.lib import stride_tricks as stride_tricks
