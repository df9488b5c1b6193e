# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders for sockets, in a place that nobody else may enter. Their paths are
short, as those of Unix sockets are limited to 107 bytes."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

from .steps import Failed

_SHORT = 40            # bytes that a runtime folder may have
_SCRATCH = '.run-'     # no cluster is called that
_held = {}             # path of a scratch folder -> descriptor with its lock


def base(everywhere=False):
    """The user's folder; with EVERYWHERE a path that all hosts have."""
    path = Path(f'/tmp/rnic-{os.getuid()}')
    session = os.environ.get('XDG_RUNTIME_DIR', '')
    # It is root's or another user's behind su and sudo.
    if not everywhere and 0 < len(session) <= _SHORT \
            and os.path.isdir(session) \
            and os.stat(session).st_uid == os.getuid():
        path = Path(session, 'rnic')
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() \
            or found.st_mode & 0o077:
        raise Failed(f'{path} is not a folder of yours alone')
    return path


@contextlib.contextmanager
def _locked(path, wait):
    """Holds the lock of a folder; BlockingIOError if somebody else does."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield fd
    finally:
        os.close(fd)


def scratch():
    """A new folder for this process. Those of processes that were killed are
    removed: a lock, which ends with its process, tells."""
    top = base()
    with _locked(top, wait=True):
        for old in top.glob(_SCRATCH + '*'):
            with contextlib.suppress(OSError), _locked(old, wait=False):
                shutil.rmtree(old, ignore_errors=True)
        path = tempfile.mkdtemp(prefix=_SCRATCH, dir=top)
        _held[path] = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(_held[path], fcntl.LOCK_EX)
    return path


def remove(path):
    """Ends what scratch() gave."""
    shutil.rmtree(path, ignore_errors=True)
    os.close(_held.pop(path))
