# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of test programs whose output is TAP (Test Anything Protocol), and their sum."""

import re
import threading

from .paths import shown

_RESULT = re.compile(r'^(not )?ok\b\s*\d*\s*-?\s*(.*)$')
_PLAN = re.compile(r'^1\.\.(\d+)')


class Summary:
    """Counts results, and prints a line for each failure. Several threads may use the same
    object."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.lock = threading.RLock()

    def program(self, name, text, ended, log, errors=''):
        """Adds the results of the program NAME. TEXT is its output. ENDED describes an abnormal
        end, and is false after a normal end. LOG is the file that messages name. ERRORS is
        the program's standard error, if TEXT does not contain it."""
        with self.lock:
            self._program(name, text, ended, log, errors)

    def _program(self, name, text, ended, log, errors):
        seen, plan, failures = 0, None, []
        for line in text.splitlines():
            m = _PLAN.match(line)
            if m:
                plan = int(m.group(1))
                self.skipped += plan == 0
            m = _RESULT.match(line)
            if not m:
                continue
            seen += 1
            if m.group(1):
                failures.append(m.group(2))
            elif '# SKIP' in line.upper():
                self.skipped += 1
            else:
                self.passed += 1
        if ended and not failures:
            failures.append(f'ended {ended} after test {seen}')
        if plan is None or seen < plan:
            failures.append(f'only {seen} of '
                            f'{"unknown" if plan is None else plan} tests ran')
        for failure in failures:
            self.fail(name, failure, log)
        if failures:
            _show_why(text, errors)

    def fail(self, name, what, log):
        with self.lock:
            self.failed += 1
            print(f'not ok: {name}: {what} (log: {shown(log)})', flush=True)

    def finish(self):
        """Prints the numbers of results. Returns the exit code: 0 only if at least one test
        has passed and none has failed."""
        if self.skipped:
            print(f'{self.skipped} skipped')
        print(f'{self.passed} passed, {self.failed} failed', flush=True)
        return 0 if self.passed and not self.failed else 1


def _show_why(text, errors):
    """Prints the lines of TEXT around failed tests, without the lines of passed tests, or the
    end of TEXT if there are no such lines; and the end of ERRORS."""
    lines = text.strip().splitlines()
    near = set()
    for i, line in enumerate(lines):
        if line.startswith('not ok'):
            near.update(range(max(0, i - 5), i + 6))
    why = [lines[i] for i in sorted(near) if i < len(lines)
           and not lines[i].startswith('ok')] or lines[-12:]
    for line in why[:40] + errors.strip().splitlines()[-20:]:
        print(f'    | {line[:200]}')
