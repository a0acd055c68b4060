"""``ppro`` and ``python -m ppro``: start the command line."""

import signal
import sys

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


def main() -> None:
    """Run the command line; Ctrl-C, once or more often, ends quietly."""
    try:
        from ppro.cli import main as run

        run()
    except KeyboardInterrupt:
        _ignore_ctrl_c()
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            _ignore_ctrl_c()
        raise


def _ignore_ctrl_c() -> None:
    """Let the rest of Python end in peace: broken into, the threads of libraries abort."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
