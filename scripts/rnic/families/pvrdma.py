# SPDX-License-Identifier: GPL-2.0-or-later
"""pvrdma, a RoCE NIC with Linux' driver; and Linux' own soft-RoCE (rxe) over virtio-net.
Soft-RoCE is no device of this project, but uses the same protocol as pvrdma."""

from ..family import Family, Nic, virtio

_IMAGE = 'roce'
# MTU of the virtio card in bytes. A packet with the largest path MTU of RDMA (4096 bytes) and
# its headers fits.
_MTU = 9000


def _pvrdma(mac):
    """Returns QEMU's options for a vmxnet3 with the address MAC, and for the device pvrdma, the
    second function of the same PCI slot."""
    return ['-device', f'vmxnet3,netdev=ether,romfile=,mac={mac},addr=10.0,'
            'multifunction=on', '-device', 'pvrdma,id=nic,addr=10.1']


def _rxe(mac):
    """Returns QEMU's options for the virtio card that soft-RoCE uses, with the address MAC."""
    return virtio(mac, f',host_mtu={_MTU}')


FAMILY = Family(
    name='pvrdma', title='pvrdma',
    rooms=(('base',), ('wire',), ('objects',), ('transport',), ('',)),
    headers=('wire.h', 'regs.h', 'dsr.h', 'attr.h', 'cmd.h'),
    nics=(Nic('pvrdma', 'roce', {'amd64': 'pvrdma'}, _IMAGE, append='rnic.roce=pvrdma',
              ethernet=_pvrdma),
          Nic('rxe', 'roce', {'amd64': 'virtio-net-pci'}, _IMAGE,
              append='rnic.roce=rxe', ethernet=_rxe)),
    linux_driver=('drivers/infiniband/hw/vmw_pvrdma', 'CONFIG_INFINIBAND_VMWARE_PVRDMA',
                  'vmw_pvrdma'),
    images={_IMAGE: ['e2fsprogs', 'fio', 'ibverbs-providers', 'ibverbs-utils',
                     'nfs-common', 'nfs-kernel-server', 'nvme-cli', 'perftest',
                     'rdma-core', 'rdmacm-utils', 'ucx-utils']},
    fuzz_runs={'box': 12000, 'cmd': 15000, 'roce': 50000, 'stream': 8000},
    fuzz_machine='-M q35 -nodefaults -netdev hubport,id=n0,hubid=0 '
                 '-device vmxnet3,addr=10.0,multifunction=on,netdev=n0 '
                 '-device pvrdma,addr=10.1',
    fuzz_objects='pvrdma* vmxnet3* msix*')
