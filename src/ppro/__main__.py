"""``python -m ppro``."""

from ppro.cli import main

if __name__ == "__main__":
    main()
