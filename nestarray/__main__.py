"""``python -m nestarray COMMAND``."""

from __future__ import annotations

import argparse


def main(argv: list[str] | None = None) -> None:
    """Run a command: ``demo``."""
    parser = argparse.ArgumentParser(prog="python -m nestarray")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "demo", help="a PyTorch network moved, compared, fine-tuned in JAX, moved back"
    )
    parser.parse_args(argv)

    from nestarray import demo

    demo.main()


if __name__ == "__main__":
    main()
