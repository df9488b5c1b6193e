# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches Debian packages and sources.

The machine's own configuration of apt installs packages on the machine. A second configuration
fetches sources and single packages, so that nothing in /etc/apt changes. The second
configuration uses mirror() and options(), both from the machine's configuration.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from .paths import BUILD
from .steps import Failed, build_lock, log_path, run, step

KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
_DIR = BUILD / 'apt'
_CONF = _DIR / 'apt.conf'
_SUITES = ['trixie', 'trixie-backports', 'forky', 'sid', 'experimental']
# Matches the machine's options of apt for downloads. options() returns those with a value.
_KEEP = re.compile(r'Acquire::(http|https|ftp|Check-|Retries|ForceIPv|'
                   r'AllowInsecure|Max-|Proxy)')


def as_root(cmd):
    """Returns CMD as a list, with sudo in front if this process is not root. Fails if sudo is
    needed and not installed."""
    if os.geteuid() == 0:
        return list(cmd)
    if not shutil.which('sudo'):
        raise Failed('this needs root, and sudo is not installed')
    # sudo may ask for a password on the terminal, and usually remembers the password for some
    # minutes.
    subprocess.run(['sudo', '-v'], check=False)
    return ['sudo'] + list(cmd)


def ensure_packages(names):
    """Installs the packages in NAMES that this machine lacks, with the machine's own apt."""
    if all(map(_installed, names)):
        return
    with build_lock('-apt'):
        _install([n for n in names if not _installed(n)])


def _install(missing):
    if not missing:
        return      # Another program has installed the packages.
    names = ' '.join(missing[:4]) + (' ...' if len(missing) > 4 else '')
    with step(f'installing {len(missing)} Debian packages ({names})'):
        env = ['env', 'DEBIAN_FRONTEND=noninteractive']
        run(as_root(env + ['apt-get', 'update']), 'apt-update')
        run(as_root(env + ['apt-get', 'install', '-y',
                           '--no-install-recommends'] + missing),
            'apt-install', f'cannot install {" ".join(missing)}')


def _installed(name):
    r = subprocess.run(['dpkg-query', '-W', '-f', '${db:Status-Status}', name],
                       capture_output=True, text=True, check=False)
    return r.stdout.startswith('installed')


def mirror():
    """Returns the address of the first archive in the configuration of apt that has the
    component main of this machine's release, of stable or of testing. Asks apt, because the
    machine's list of sources has one of several formats. Fails if there is no such archive."""
    out = subprocess.run(
        ['apt-get', 'indextargets', '--format',
         '$(REPO_URI) $(RELEASE) $(COMPONENT)', 'Created-By: Packages'],
        capture_output=True, text=True, check=False).stdout
    found = [line.split() for line in out.splitlines()]
    codename = _os_release().get('VERSION_CODENAME', '')
    for uri, suite, component in found:
        if component == 'main' and suite in (codename, 'stable', 'testing'):
            return uri
    raise Failed('no Debian archive found in the configuration of apt')


def _os_release():
    lines = Path('/etc/os-release').read_text(encoding='utf-8').splitlines()
    return dict(line.replace('"', '').split('=', 1)
                for line in lines if '=' in line)


def options():
    """Returns the machine's options for downloads that have a value, as lines of an apt
    configuration."""
    out = subprocess.run(['apt-config', 'dump'], capture_output=True,
                         text=True, check=True).stdout
    return [line for line in out.splitlines()
            if _KEEP.match(line) and not line.endswith(' "";')]


def source_line(suite, kind='deb'):
    signed = f'[signed-by={KEYRING}] ' if os.path.exists(KEYRING) else ''
    return f'{kind} {signed}{mirror()} {suite} main'


def _configure():
    for d in ('etc', 'state/lists/partial', 'cache/archives/partial'):
        (_DIR / d).mkdir(parents=True, exist_ok=True)
    lines = [source_line(s, 'deb-src') for s in _SUITES]
    lines += [source_line('trixie')]
    (_DIR / 'etc/sources.list').write_text('\n'.join(lines) + '\n',
                                           encoding='ascii')
    conf = options() + [
        f'Dir::Etc "{_DIR}/etc";',
        f'Dir::Etc::parts "{_DIR}/etc/none";',
        f'Dir::Etc::sourceparts "{_DIR}/etc/none";',
        f'Dir::Etc::preferencesparts "{_DIR}/etc/none";',
        'Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";',
        'Dir::Etc::netrc "/etc/apt/auth.conf";',
        'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";',
        f'Dir::State "{_DIR}/state";',
        'Dir::State::status "/var/lib/dpkg/status";',
        f'Dir::Cache "{_DIR}/cache";',
        'APT::Sandbox::User "root";',
        'APT::Architecture "amd64";']
    _CONF.write_text('\n'.join(conf) + '\n', encoding='utf-8')


def _private(cmd, log, why, cwd=None):
    run(cmd, log, why, env={'APT_CONFIG': str(_CONF)}, cwd=cwd)


def _update():
    _configure()
    try:
        _private(['apt-get', 'update'], 'apt-private', None)
    except Failed:
        pass   # A mirror may lack a suite. The next command of apt needs only some suites.


def fetch_source(name, prefix, into):
    """Fetches the upstream tarball of the source package NAME into the folder INTO, and returns
    the path of the tarball. Chooses the newest version that begins with PREFIX. Does not fetch
    the .dsc, because a mirror may lack this file. Fails if the archive has no such version."""
    with build_lock('-apt'):
        return _fetch_source(name, prefix, into)


def _fetch_source(name, prefix, into):
    into.mkdir(parents=True, exist_ok=True)
    _update()
    out = subprocess.run(['apt-cache', 'showsrc', '--only-source', name],
                         env={**os.environ, 'APT_CONFIG': str(_CONF)},
                         capture_output=True, text=True, check=False).stdout
    versions = [v for v in re.findall(r'^Version: (\S+)', out, re.M)
                if v.split(':')[-1].startswith(prefix)]
    if not versions:
        raise Failed(f'the Debian archive has no source of {name} {prefix}',
                     log_path('apt-private'))
    versions.sort(key=lambda v: [int(n) for n in re.findall(r'\d+', v)])
    _private(['apt-get', 'source', '--download-only', '--tar-only',
              f'{name}={versions[-1]}'], f'fetch-{name}',
             f'cannot fetch the source of {name} {versions[-1]}', cwd=into)
    upstream = re.sub(r'^\d+:|-[^-]*$', '', versions[-1])
    tars = sorted(into.glob(f'{name}_{upstream}.orig.tar.*'))
    tars = [t for t in tars if not t.name.endswith('.asc')]
    if not tars:
        raise Failed(f'apt fetched no tarball of {name} {upstream}')
    return tars[-1]


def fetch_package(name, into):
    """Fetches the Debian 13 package NAME and unpacks the package into the folder INTO, without
    an installation."""
    into.mkdir(parents=True, exist_ok=True)
    with build_lock('-apt'):
        _update()
        for old in into.glob(f'{name}_*.deb'):
            old.unlink()
        _private(['apt-get', 'download', f'{name}/trixie'], f'fetch-{name}',
                 f'cannot fetch the package {name}', cwd=into)
    run(['dpkg', '-x', next(into.glob(f'{name}_*.deb')), into],
        f'unpack-{name}')
