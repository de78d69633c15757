"""``python -m nestarray``: the command line."""

from nestarray.cli import main

raise SystemExit(main())
