"""``python -m nestarray``: the command line."""

from nestarray.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
