# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders for sockets, which only this user can enter. The paths are short, because the path
of a Unix socket has at most 107 bytes."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

from .steps import Failed

_SHORT = 40            # maximum length of XDG_RUNTIME_DIR
_SCRATCH = '.run-'     # prefix of scratch folders; no cluster's name begins like this
_held = {}             # path of a scratch folder -> descriptor with its lock


def base(everywhere=False):
    """Returns this user's folder for all folders of sockets, and makes the folder if it is
    missing. With EVERYWHERE, the path is the same on all hosts. Fails if the path is no folder,
    or if another user owns or can enter the folder."""
    path = Path(f'/tmp/rnic-{os.getuid()}')
    session = os.environ.get('XDG_RUNTIME_DIR', '')
    # After su or sudo, XDG_RUNTIME_DIR can be the folder of another user.
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
    """Holds the lock of the folder PATH. If another process holds the lock, waits with WAIT,
    and raises BlockingIOError without WAIT."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield fd
    finally:
        os.close(fd)


def scratch():
    """Returns the path of a new folder for this process, and holds the lock of this folder
    until remove(). Removes other scratch folders whose lock no process holds: their processes
    ended without remove(), and the kernel released the locks."""
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
    """Removes the folder PATH, which scratch() has returned."""
    shutil.rmtree(path, ignore_errors=True)
    os.close(_held.pop(path))
