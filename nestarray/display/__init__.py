"""Trees, tables and reports as text, HTML and trees of rich."""

from nestarray.display import text as text
