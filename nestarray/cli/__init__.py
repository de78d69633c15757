"""The command ``nestarray``: checkpoints and conversions without a program.

Each command is a function that takes the parsed arguments and a `Console`, and returns an exit
code. The work is done by the packages below; this package parses arguments and prints.
"""

from nestarray.cli.main import main as main
