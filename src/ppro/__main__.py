"""``ppro`` and ``python -m ppro``: start the command line."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while PyTorch is still being imported ends quietly."""
    try:
        from ppro.cli import main as run
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
