# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a guest on the board zcu102, which has the NIC in its programmable logic."""

import re
import subprocess
import tempfile
from pathlib import Path

from . import families, initrd, vm
from .arch import ARM64
from .steps import Failed, log_path, step

_SECONDS = 300
_NIC = families.DEFAULT.nics[0]
# Without firmware the kernel's driver of the serial port does not work, because the driver
# finds no clocks. So all output passes through the kernel's log to the early console.
_CMDLINE = 'earlycon=cdns,mmio,0xff000000 keep_bootcon console=ttyPS0 ' \
           'printk.devkmsg=on clk_ignore_unused loglevel=5'
_SAID = re.compile(r'^\[ *\d+\.\d+\] rnic\| (.*)$', re.M)


def run(binary, command):
    """Boots the board, runs the shell command line COMMAND, and waits until the board switches
    itself off. Returns the output and the exit code of COMMAND. Fails if the board does not
    run COMMAND to its end, or is not off after _SECONDS, or if QEMU fails."""
    console = log_path('zcu102-console')
    with tempfile.NamedTemporaryFile() as ram, step('running zcu102') as line:
        ram.write(ARM64.ram.read_bytes())
        ram.write(initrd.cpio({'command': f'{command}\n'.encode()}))
        ram.flush()
        _run([Path(binary).with_name(ARM64.binary), '-M', 'xlnx-zcu102',
              '-m', '1G', '-nodefaults', '-no-reboot', '-display', 'none',
              '-audio', 'none', '-serial', f'file:{console}',
              '-kernel', ARM64.kernel, '-initrd', ram.name,
              '-dtb', ARM64.device_tree, '-append', _CMDLINE,
              '-netdev', 'hubport,id=link0,hubid=0',
              '-device', f'{_NIC.devices[ARM64.name]},id=nic,coord=0,link0=link0'],
             console)
        line.title = 'zcu102 has run'
    text = console.read_text(encoding='utf-8', errors='replace')
    said = _SAID.findall(text.replace('\r', ''))
    code = re.fullmatch(r'exit (\d+)', said[-1]) if said else None
    if not code:
        raise Failed('zcu102 did not run the command', console)
    return '\n'.join(said[:-1]), int(code[1])


def _run(cmd, console):
    errors = log_path('zcu102-qemu')
    with open(errors, 'wb') as out:
        process = vm.spawn(cmd, stdin=subprocess.DEVNULL, stdout=out,
                           stderr=out)
    try:
        code = process.wait(_SECONDS)
    except subprocess.TimeoutExpired as e:
        raise Failed(f'zcu102 did not end in {_SECONDS} s', console) from e
    finally:
        process.kill()
        process.wait()
    if code:
        raise Failed(f'the QEMU of zcu102 ended with code {code}', errors)
