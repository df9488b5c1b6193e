// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: memory of other nodes by load and store, and copies by the central DMA.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "rnic/exanet/uapi.h"

#define EXA_DEVICE_PAGE	4096UL		/* bytes; segments begin and end at multiples of this
					 * size */
#define EXA_FENCE_MS	60000		/* maximal wait of exa_fence(), ms */

_Static_assert((int)EXA_MAP_READ == EXANET_SEGMENT_READ &&
	       (int)EXA_MAP_WRITE == EXANET_SEGMENT_WRITE &&
	       (int)EXA_MAP_EARLY == EXANET_SEGMENT_EARLY &&
	       (int)EXA_COPY_SRC_REMOTE == EXANET_CDMA_SRC_REMOTE &&
	       (int)EXA_COPY_DST_REMOTE == EXANET_CDMA_DST_REMOTE &&
	       (int)EXA_ACCEL_MATRIX == EXANET_ACCEL_MATRIX &&
	       (int)EXA_ACCEL_X == EXANET_ACCEL_X &&
	       (int)EXA_ACCEL_Y == EXANET_ACCEL_Y &&
	       (int)EXA_ACCEL_MAP1 == EXANET_ACCEL_MAP1 &&
	       (int)EXA_ACCEL_MAP2 == EXANET_ACCEL_MAP2 &&
	       (int)EXA_ACCEL_CELLS == EXANET_ACCEL_CELLS,
	       "flags of library and driver differ");

/*
 * Calls ioctl() with @cmd, a request for shared memory.  Returns 0, -EPERM in a child after
 * fork(), -EOPNOTSUPP if the NIC has no aperture or the driver does not know @cmd, or
 * another negative errno.
 */
static int exa_shm_ioctl(struct exa_dev *dev, unsigned long cmd, void *arg)
{
	int ret;

	if (!exa_alive(dev))
		return -EPERM;
	ret = exa_ioctl(dev, cmd, arg);
	return ret == -ENOTTY ? -EOPNOTSUPP : ret;
}

EXA_API int exa_shm_query(struct exa_dev *dev, struct exa_shm_attr *attr)
{
	struct exanet_ioc_query_shm query = { 0 };
	int ret = exa_shm_ioctl(dev, EXANET_IOC_QUERY_SHM, &query);

	if (ret)
		return ret;
	*attr = (struct exa_shm_attr) {
		.aperture = query.aperture,
		.bram = query.bram,
		.segments = query.segments,
		.segments_used = query.segments_used,
	};
	return 0;
}

/* --- segments ------------------------------------------------------------- */

static int exa_segment_destroy(struct exa_dev *dev, uint32_t number)
{
	struct exanet_ioc_segment_destroy destroy = { .segment = number };

	return exa_shm_ioctl(dev, EXANET_IOC_SEGMENT_DESTROY, &destroy);
}

static int exa_segment_prot(unsigned int flags)
{
	return (flags & EXA_MAP_READ ? PROT_READ : 0) |
	       (flags & EXA_MAP_WRITE ? PROT_WRITE : 0);
}

/*
 * Creates a segment in the driver, maps the segment, and stores address and number of the
 * segment in @seg.  Returns 0 or a negative errno.
 */
static int exa_segment_map(struct exa_dev *dev, struct exa_segment *seg,
			   struct exanet_ioc_segment_create *create)
{
	void *p;
	int ret;

	ret = exa_shm_ioctl(dev, EXANET_IOC_SEGMENT_CREATE, create);
	if (ret)
		return ret;
	seg->number = create->segment;
	p = mmap(NULL, seg->bytes, exa_segment_prot(create->flags), MAP_SHARED,
		 dev->fd, (off_t)create->offset);
	if (p == MAP_FAILED) {
		ret = -errno;
		exa_segment_destroy(dev, seg->number);
		return ret;
	}
	seg->base = p;
	return 0;
}

static struct exa_segment *exa_segment_new(struct exa_dev *dev, uint64_t gva,
					   size_t len)
{
	uint64_t before = gva & (EXA_DEVICE_PAGE - 1);
	struct exa_segment *seg;

	/*
	 * Refuses a large @len here, although the driver checks all arguments, because a
	 * large @len could overflow seg->bytes below.
	 */
	if (!len || len > EXANET_GVA_VA) {
		errno = EINVAL;
		return NULL;
	}
	if (!exa_alive(dev)) {
		errno = EPERM;
		return NULL;
	}
	seg = calloc(1, sizeof(*seg));
	if (!seg)
		return NULL;
	seg->len = len;
	seg->bytes = (before + len + EXA_DEVICE_PAGE - 1) & ~(EXA_DEVICE_PAGE - 1);
	return seg;
}

EXA_API void *exa_map_remote(struct exa_dev *dev, uint64_t gva, size_t len,
			     unsigned int dst_ctx, unsigned int flags)
{
	struct exanet_ioc_segment_create create = {
		.gva = gva & ~(EXA_DEVICE_PAGE - 1),
		.dst_ctx = dst_ctx,
		.flags = flags,
	};
	struct exa_segment *seg = exa_segment_new(dev, gva, len);
	int ret;

	if (!seg)
		return NULL;
	create.len = seg->bytes;
	ret = exa_segment_map(dev, seg, &create);
	if (ret) {
		free(seg);
		errno = -ret;
		return NULL;
	}
	seg->addr = seg->base + (gva - create.gva);
	pthread_mutex_lock(&dev->lock);
	seg->next = dev->segments;
	dev->segments = seg;
	pthread_mutex_unlock(&dev->lock);
	return seg->addr;
}

/*
 * Removes the segment with @addr and @len from dev->segments.  Returns the segment, or NULL
 * if dev->segments has no such segment.
 */
static struct exa_segment *exa_segment_take(struct exa_dev *dev, void *addr,
					    size_t len)
{
	struct exa_segment **link, *seg;

	pthread_mutex_lock(&dev->lock);
	for (link = &dev->segments; (seg = *link); link = &seg->next) {
		if (seg->addr == addr && seg->len == len) {
			*link = seg->next;
			break;
		}
	}
	pthread_mutex_unlock(&dev->lock);
	return seg;
}

EXA_API int exa_unmap_remote(struct exa_dev *dev, void *addr, size_t len)
{
	struct exa_segment *seg;
	int ret;

	if (!exa_alive(dev))
		return -EPERM;
	seg = exa_segment_take(dev, addr, len);
	if (!seg)
		return -EINVAL;
	munmap(seg->base, seg->bytes);
	ret = exa_segment_destroy(dev, seg->number);
	free(seg);
	return ret;
}

/* --- order and errors ----------------------------------------------------- */

void exa_remote_init(struct exa_dev *dev)
{
	dev->errors_base = exa_load32(&exa_info(dev)->errors);
	atomic_store(&dev->errors_seen, dev->errors_base);
}

EXA_API int exa_fence(struct exa_dev *dev)
{
	struct exa_pace pace;
	uint32_t errors;

	if (!exa_alive(dev))
		return -EPERM;
	exa_mb();
	exa_pace_start(&pace, dev, EXA_FENCE_MS);
	while (exa_load32(&exa_info(dev)->stores))
		if (!exa_pace_step(&pace))
			return -ETIMEDOUT;
	exa_rmb();
	errors = exa_load32(&exa_info(dev)->errors);
	return atomic_exchange(&dev->errors_seen, errors) == errors ? 0 : -EIO;
}

EXA_API uint32_t exa_remote_errors(const struct exa_dev *dev)
{
	if (!exa_alive(dev))
		return 0;
	return exa_load32(&exa_info(dev)->errors) - dev->errors_base;
}

EXA_API int exa_error_signal(struct exa_dev *dev, int signo)
{
	struct exanet_ioc_error_signal request = { .signo = signo };

	return exa_shm_ioctl(dev, EXANET_IOC_ERROR_SIGNAL, &request);
}

/* --- copies --------------------------------------------------------------- */

EXA_API int exa_cdma_copy(struct exa_dev *dev, const struct exa_copy_attr *attr)
{
	struct exanet_ioc_cdma copy = {
		.src = attr->src,
		.dst = attr->dst,
		.len = attr->len,
		.flags = attr->flags,
		.dst_ctx = attr->dst_ctx,
	};

	return exa_shm_ioctl(dev, EXANET_IOC_CDMA, &copy);
}

/* --- accelerator ---------------------------------------------------------- */

EXA_API int exa_accel(struct exa_dev *dev, struct exa_accel_job *job)
{
	struct exanet_ioc_accel request = {
		.matrix = job->matrix,
		.x = job->x,
		.y = job->y,
		.map1 = job->map1,
		.map2 = job->map2,
		.cells = job->cells,
		.ndf1 = job->ndf1,
		.ndf2 = job->ndf2,
		.nlayers = job->nlayers,
		.ncells = job->ncells,
		.remote = job->remote,
		.dst_ctx = job->dst_ctx,
	};
	int ret = exa_shm_ioctl(dev, EXANET_IOC_ACCEL, &request);

	job->ops = request.ops;
	job->bytes = request.bytes;
	job->ns = request.ns;
	job->err_addr = request.err_addr;
	return ret;
}

/* --- block RAM ------------------------------------------------------------ */

static int exa_bram_map(struct exa_dev *dev)
{
	struct exa_shm_attr attr;
	int ret = exa_shm_query(dev, &attr);
	void *p;

	if (ret)
		return ret;
	if (!attr.bram)
		return -EOPNOTSUPP;
	p = mmap(NULL, attr.bram, PROT_READ | PROT_WRITE, MAP_SHARED, dev->fd,
		 (off_t)EXANET_MMAP_BRAM);
	if (p == MAP_FAILED)
		return -errno;
	dev->bram = p;
	dev->bram_bytes = attr.bram;
	return 0;
}

EXA_API void *exa_bram(struct exa_dev *dev, size_t *len)
{
	void *bram;
	int ret = 0;

	if (!exa_alive(dev)) {
		errno = EPERM;
		return NULL;
	}
	pthread_mutex_lock(&dev->lock);
	if (!dev->bram)
		ret = exa_bram_map(dev);
	bram = dev->bram;
	if (len)
		*len = dev->bram_bytes;
	pthread_mutex_unlock(&dev->lock);
	if (ret)
		errno = -ret;
	return bram;
}

void exa_remote_drop(struct exa_dev *dev, bool live)
{
	struct exa_segment *seg;

	while ((seg = dev->segments)) {
		dev->segments = seg->next;
		if (live)
			munmap(seg->base, seg->bytes);
		free(seg);
	}
	if (live && dev->bram)
		munmap(dev->bram, dev->bram_bytes);
}
