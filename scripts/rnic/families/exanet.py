# SPDX-License-Identifier: GPL-2.0-or-later
"""ExaNet: the RDMA engine and the shared memory of the ExaNeSt prototype."""

from ..family import Family, Nic, value


def _options(node):
    """Returns QEMU's options for the NIC of NODE, and for the ends of its cables."""
    spec, topo = node.spec, node.cluster.topology
    cmd, device = [], f'{node.device},id=nic,coord={spec.coord}'
    if topo.dims:
        device += f',dims={topo.dims}'
    if topo.router:
        device += f',router={topo.router}'
    if spec.routes:
        device += f',routes={spec.routes}'
    if spec.rate:
        device += f',link-rate-kbps={spec.rate}'
    if spec.latency:
        device += f',link-latency-ns={spec.latency}'
    for i, cable in enumerate(spec.cables):
        cmd += node.cluster.plug(node, cable, f'link{i}')
        device += f',link{i}=link{i},peer{i}={cable.other(spec).coord}'
        if cable.faults:
            device += f',faults{i}={value(cable.faults)}'
    return [*cmd, '-device', device]


FAMILY = Family(
    name='exanet', title='ExaNet',
    rooms=(('base',), ('net',), ('engine',), ('firmware', 'shm'), ('',)),
    doors={'shm': 'shm.h'},
    headers=('wire.h', 'desc.h', 'regs.h', 'shm.h'),
    nics=(Nic('exanet', 'exanet', {'amd64': 'exanet-pci', 'arm64': 'exanet-axi'}, links=12,
              options=_options),),
    module=True, library=True, provider=True,
    # These tests need no second node, and no libraries beside libc and libexanet.
    board_tests=('driver-segment', 'driver-cdma'),
    fuzz_runs={'box': 1100, 'decode': 500000, 'segment': 50000, 'wire': 20000},
    fuzz_machine='-M q35 -nodefaults -netdev hubport,id=n0,hubid=0 '
                 '-netdev hubport,id=n1,hubid=0 '
                 '-device pcie-root-port,id=r,chassis=1 '
                 '-device exanet-pci,bus=r,coord=0x1,link0=n0 '
                 '-device exanet-pci,coord=0x2,link0=n1',
    fuzz_objects='exanet* msix*')
