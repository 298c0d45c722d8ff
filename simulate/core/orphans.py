"""Workers of a program that is gone: nothing tells them, so that they ask, from their first task on."""

import functools
import os
import threading
import time

SECONDS = 1.0  # between two looks


@functools.cache  # one watch in each process
def stop_with(parent: int) -> None:
    """End this process, whose parent's id is `parent`, soon after the parent ended: killed, it could not say so."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS)
    os._exit(1)  # nobody is left who would hear of anything
