export FI_PROVIDER_PATH=/usr/lib/rnic/libfabric
export OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
