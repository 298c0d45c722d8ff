"""How a command ends where nobody reads its output any more, and the exit status of one that is interrupted."""

import os
import sys
from collections.abc import Callable

INTERRUPTED = 130  # the shell's code for ^C


def until_closed(main: Callable[[], int]) -> int:
    """Run a command and return its exit status: 0 where its output is cut off by `| head`, which has seen enough."""
    try:
        try:
            return main()
        finally:
            sys.stdout.flush()  # here, since at the end of the program nothing could catch the error
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
