"""Trees, tables and reports as text and HTML."""

from nestarray.display import text as text
