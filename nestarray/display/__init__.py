"""Trees as text and HTML: `repr`, notebooks, tables and plots; attached to `Container`."""

from nestarray.display import html as html
from nestarray.display import plots as plots
from nestarray.display import summary as summary
from nestarray.display import text as text
