# SPDX-License-Identifier: GPL-2.0-or-later
# Devices of the build with sanitizers, because the qtests use them. A build without the
# other devices takes less time. apply.sh appends the tests.mak of each family.
CONFIG_E1000E_PCI_EXPRESS=y
CONFIG_E1000_PCI=y
CONFIG_GENERIC_LOADER=y
CONFIG_I440FX=y
CONFIG_PCIE_PORT=y
CONFIG_Q35=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_PCI=y
CONFIG_VTD=y
