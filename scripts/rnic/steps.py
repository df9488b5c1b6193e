# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs steps that have a name, a duration and a log, and prints one line for an error.

The lines go to standard error, because standard output is for results.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

from .paths import BUILD, LOG, shown

_PROGRESS = re.compile(r'\[(\d+)/(\d+)\]')
# Matches the line in which apt, sudo, a compiler or a configure script reports an error.
_REASON = re.compile(r'^(?:E: |sudo: |.*\b(?:error|ERROR): ).*', re.M)
_PLAIN_INTERVAL = 15   # seconds between lines of progress if the output is not a terminal


class Failed(Exception):
    """A step has failed. WHY is the reason, STEP the title of the step, and LOG the file with
    details. STEP and LOG may be None."""

    def __init__(self, why, log=None, step=None):
        super().__init__(why)
        self.why, self.log, self.step = why, log, step

    def line(self):
        text = f'FAILED: {self.step}: {self.why}' if self.step \
            else f'FAILED: {self.why}'
        return text + (f' (log: {shown(self.log)})' if self.log else '')


class _Line:
    """The line of a step on standard error. On a terminal, each change overwrites the line.
    Otherwise the beginning and the end of the step are two lines, and progress is a further
    line at most every _PLAIN_INTERVAL seconds."""

    def __init__(self, title):
        self.title, self.start = title, time.monotonic()
        self.tty, self.last = sys.stderr.isatty(), time.monotonic()
        self.show('')

    def seconds(self):
        return time.monotonic() - self.start

    def show(self, text, end=False):
        took = f'{self.seconds():.1f} s' if text or end else ''
        line = f'==> {self.title} {text} {took}'.rstrip()
        if self.tty:
            sys.stderr.write('\r\033[K' + line[:150] + ('\n' if end else ''))
        elif end or not text \
                or time.monotonic() - self.last > _PLAIN_INTERVAL:
            self.last = time.monotonic()
            sys.stderr.write(line + '\n')
        sys.stderr.flush()


class _Steps(threading.local):
    """Holds the innermost step of each thread."""

    line = None


_current = _Steps()


@contextlib.contextmanager
def step(title):
    """Prints TITLE now, and the duration at the end of the body. Yields the _Line. Stores
    TITLE in an error of the body, unless an inner step has stored its title there."""
    outer, line = _current.line, _Line(title)
    _current.line = line
    try:
        yield line
        line.show('done,', end=True)
    except Exception as e:
        e.step = getattr(e, 'step', None) or title
        line.show('FAILED after', end=True)
        raise
    except BaseException:
        line.show('stopped after', end=True)
        raise
    finally:
        _current.line = outer


def log_path(name):
    LOG.mkdir(parents=True, exist_ok=True)
    path = LOG / f'{name}.log'
    if path.exists() and not os.access(path, os.W_OK):
        path.unlink()   # An earlier run by root has made the log.
    return path


def run(cmd, log, why=None, env=None, cwd=None, stdin=None):
    """Runs CMD and writes its output to the file log_path(LOG). ENV has variables to add to
    the environment. Raises Failed if CMD is not installed. If the exit code is not 0, raises
    Failed with WHY, or with the exit code if WHY is None, and with the first reason of an
    error in the log, if there is one."""
    path = log_path(log)
    with open(path, 'w', encoding='utf-8', errors='replace') as out:
        out.write('$ ' + ' '.join(map(str, cmd)) + '\n')
        out.flush()
        try:
            proc = subprocess.Popen(
                [str(c) for c in cmd], stdout=out, stderr=subprocess.STDOUT,
                stdin=stdin or subprocess.DEVNULL, cwd=cwd,
                env={**os.environ, **(env or {})})
        except FileNotFoundError as e:
            raise Failed(f'{cmd[0]} is not installed', path) from e
        try:
            while True:
                try:
                    code = proc.wait(timeout=1)
                    break
                except subprocess.TimeoutExpired:
                    _show_progress(path)
        except BaseException:
            proc.terminate()
            proc.wait()
            raise
    if code:
        raise Failed((why or f'{cmd[0]} ended with code {code}')
                     + _reason(path), path)


def _reason(log):
    """Returns the first reason of an error in the last 64 KiB of the file LOG, as the end of
    a sentence; an empty string if there is no reason."""
    found = _REASON.search(tail(log, 65536))
    return f': {found.group().strip()[:160]}' if found else ''


def tail(path, size=4096):
    with open(path, 'rb') as f:
        f.seek(0, os.SEEK_END)
        f.seek(max(0, f.tell() - size))
        return f.read().decode('utf-8', 'replace')


def _show_progress(path):
    if not _current.line:
        return
    text = tail(path)
    counts = _PROGRESS.findall(text)
    lines = text.strip().splitlines()
    if counts:
        done, total = map(int, counts[-1])
        _current.line.show(f'{done}/{total} ({100 * done // max(total, 1)} %),')
    elif lines:
        _current.line.show(lines[-1].strip()[:60] + ' ...')


@contextlib.contextmanager
def build_lock(what=''):
    """Waits for the lock of builds of kind WHAT below BUILD, and holds the lock, so that one
    such build runs at a time. WHAT is '-guest' for guests, '-apt' for packages, and '' for
    all other builds."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / f'.lock{what}', 'w', encoding='ascii') as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with step('waiting for another build in the same folder'):
                fcntl.flock(f, fcntl.LOCK_EX)
        yield


def digest(*items):
    """Returns the SHA-256, in hexadecimal, of ITEMS. An item is a string, or the path of a
    file (contents and execute bits), or the path of a folder (names, contents and execute
    bits of all files below the folder). The path of a missing file adds nothing."""
    h = hashlib.sha256()
    for item in items:
        if isinstance(item, str):
            h.update(b's' + item.encode())
            continue
        files = sorted(p for p in item.rglob('*') if p.is_file()) \
            if item.is_dir() else [item]
        for f in files:
            if f.is_file():
                h.update(str(f.relative_to(item)).encode() + b'\0')
                h.update(f'{f.stat().st_mode & 0o111}'.encode())
                h.update(f.read_bytes())
    return h.hexdigest()


def fresh(stamp, value):
    """Returns true if the file STAMP exists and contains VALUE, the digest of a product's
    sources."""
    return stamp.is_file() and stamp.read_text(encoding='ascii') == value


@contextlib.contextmanager
def making(stamp, value):
    """Context in which a product is made whose sources have the digest VALUE. Removes the file
    STAMP at the beginning, and writes VALUE to STAMP at the end, so that STAMP does not exist
    if the body fails."""
    stamp.unlink(missing_ok=True)
    yield
    stamp.write_text(value, encoding='ascii')


def main(function):
    """Runs FUNCTION as a program and exits. The result of FUNCTION is the exit code. Prints an
    error as one line. SIGTERM and SIGHUP end the program by an exception."""
    def stop(number, _frame):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        sys.exit(function())
    except Failed as e:
        print(e.line(), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print('stopped by the user', file=sys.stderr)
        sys.exit(130)
    except Exception as e:   # The user gets one line for any error.
        why = str(e) if isinstance(e, OSError) else f'{type(e).__name__}: {e}'
        print(Failed(why, _trace(), getattr(e, 'step', None)).line(),
              file=sys.stderr)
        sys.exit(1)


def _trace():
    """Writes the current exception to a log. Returns the path of the log; None if the log
    cannot be written."""
    try:
        log = log_path('error')
        log.write_text(traceback.format_exc(), encoding='utf-8')
        return log
    except OSError:
        return None
