// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: /dev/exanetN, see rnic/exanet/uapi.h.
 */
#include "exanet_file.h"

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "exanet.h"
#include "exanet_binding.h"
#include "exanet_bram.h"
#include "exanet_context.h"
#include "exanet_error.h"
#include "exanet_event.h"
#include "exanet_vma.h"

static int exanet_file_open(struct inode *inode, struct file *file)
{
	struct exanet_device *xdev =
		container_of(inode->i_cdev, struct exanet_device, cdev);
	struct exanet_context *ctx;

	ctx = exanet_binding_open(xdev, file->f_mapping);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	file->private_data = ctx;
	return stream_open(inode, file);
}

static int exanet_file_release(struct inode *inode, struct file *file)
{
	exanet_binding_close(file->private_data);
	return 0;
}

/*
 * Returns true if current has the address space of the context. A child after fork() has
 * its own address space, so the child may not use the context.
 */
static bool exanet_file_is_owner(struct exanet_context *ctx)
{
	return current->mm == ctx->mm;
}

static ssize_t exanet_file_read(struct file *file, char __user *buf, size_t count,
				loff_t *pos)
{
	struct exanet_context *ctx = file->private_data;
	u64 events;
	int ret;

	if (!exanet_file_is_owner(ctx))
		return -EPERM;
	if (count < sizeof(events))
		return -EINVAL;
	ret = exanet_event_read(ctx, !(file->f_flags & O_NONBLOCK), &events);
	if (ret)
		return ret;
	if (put_user(events, (u64 __user *)buf))
		return -EFAULT;
	return sizeof(events);
}

static __poll_t exanet_file_poll(struct file *file, poll_table *wait)
{
	struct exanet_context *ctx = file->private_data;

	if (!exanet_file_is_owner(ctx))
		return EPOLLERR;
	return exanet_event_poll(ctx, file, wait);
}

/* --- ioctl ---------------------------------------------------------------- */

static long exanet_ioctl_query(struct exanet_context *ctx, void __user *arg)
{
	struct exanet_ioc_query q = {};
	int ret = exanet_context_query(ctx, &q);

	if (ret)
		return ret;
	return copy_to_user(arg, &q, sizeof(q)) ? -EFAULT : 0;
}

static long exanet_ioctl_map_window(struct exanet_context *ctx, void __user *arg)
{
	struct exanet_ioc_map_window m;
	int ret;

	if (copy_from_user(&m, arg, sizeof(m)))
		return -EFAULT;
	if (m.reserved)
		return -EINVAL;
	ret = exanet_context_map_window(ctx, m.va);
	if (ret < 0)
		return ret;
	m.window = ret;
	return copy_to_user(arg, &m, sizeof(m)) ? -EFAULT : 0;
}

static long exanet_ioctl_eventfd(struct exanet_context *ctx, void __user *arg)
{
	struct exanet_ioc_eventfd e;

	if (copy_from_user(&e, arg, sizeof(e)))
		return -EFAULT;
	if (e.reserved)
		return -EINVAL;
	return exanet_event_set_fd(ctx, e.fd);
}

static long exanet_ioctl_set_job(struct exanet_context *ctx, void __user *arg)
{
	struct exanet_ioc_set_job j;

	if (copy_from_user(&j, arg, sizeof(j)))
		return -EFAULT;
	if (j.reserved)
		return -EINVAL;
	return exanet_context_set_job(ctx, j.job);
}

static long exanet_ioctl_query_shm(struct exanet_context *ctx, void __user *arg)
{
	struct exanet_ioc_query_shm q = {};
	int ret = exanet_segment_query(ctx, &q);

	if (ret)
		return ret;
	return copy_to_user(arg, &q, sizeof(q)) ? -EFAULT : 0;
}

static long exanet_ioctl_segment_create(struct exanet_context *ctx,
					void __user *arg)
{
	struct exanet_ioc_segment_create c;
	int ret;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	ret = exanet_segment_create(ctx, &c);
	if (ret)
		return ret;
	if (copy_to_user(arg, &c, sizeof(c))) {
		exanet_segment_destroy(ctx, c.segment);
		return -EFAULT;
	}
	return 0;
}

static long exanet_ioctl_segment_destroy(struct exanet_context *ctx,
					 void __user *arg)
{
	struct exanet_ioc_segment_destroy d;

	if (copy_from_user(&d, arg, sizeof(d)))
		return -EFAULT;
	if (d.reserved)
		return -EINVAL;
	return exanet_segment_destroy(ctx, d.segment);
}

static long exanet_ioctl_error_signal(struct exanet_context *ctx,
				      void __user *arg)
{
	struct exanet_ioc_error_signal s;

	if (copy_from_user(&s, arg, sizeof(s)))
		return -EFAULT;
	if (s.reserved)
		return -EINVAL;
	return exanet_error_set_signal(ctx, s.signo);
}

static long exanet_ioctl_cdma(struct exanet_context *ctx, void __user *arg)
{
	struct exanet_ioc_cdma c;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	return exanet_cdma_copy(ctx, &c);
}

static long exanet_ioctl_accel(struct exanet_context *ctx, void __user *arg)
{
	struct exanet_ioc_accel a;
	int ret;

	if (copy_from_user(&a, arg, sizeof(a)))
		return -EFAULT;
	ret = exanet_accel_job(ctx, &a);
	/* The caller of ioctl() gets the output members after a failure, too. */
	return copy_to_user(arg, &a, sizeof(a)) ? -EFAULT : ret;
}

static long exanet_file_ioctl(struct file *file, unsigned int cmd,
			      unsigned long arg)
{
	struct exanet_context *ctx = file->private_data;
	void __user *uarg = (void __user *)arg;

	if (!exanet_file_is_owner(ctx))
		return -EPERM;
	switch (cmd) {
	case EXANET_IOC_QUERY:
		return exanet_ioctl_query(ctx, uarg);
	case EXANET_IOC_MAP_WINDOW:
		return exanet_ioctl_map_window(ctx, uarg);
	case EXANET_IOC_EVENTFD:
		return exanet_ioctl_eventfd(ctx, uarg);
	case EXANET_IOC_SET_JOB:
		return exanet_ioctl_set_job(ctx, uarg);
	case EXANET_IOC_QUERY_SHM:
		return exanet_ioctl_query_shm(ctx, uarg);
	case EXANET_IOC_SEGMENT_CREATE:
		return exanet_ioctl_segment_create(ctx, uarg);
	case EXANET_IOC_SEGMENT_DESTROY:
		return exanet_ioctl_segment_destroy(ctx, uarg);
	case EXANET_IOC_ERROR_SIGNAL:
		return exanet_ioctl_error_signal(ctx, uarg);
	case EXANET_IOC_CDMA:
		return exanet_ioctl_cdma(ctx, uarg);
	case EXANET_IOC_ACCEL:
		return exanet_ioctl_accel(ctx, uarg);
	default:
		return -ENOTTY;
	}
}

/* --- mmap ----------------------------------------------------------------- */

/*
 * Maps a user page at the first access. mmap() does not map the page, because a PTE must be
 * set under the device's lock: otherwise exanet_binding_stop_all() could miss the PTE.
 */
static vm_fault_t exanet_vm_fault(struct vm_fault *vmf)
{
	return exanet_context_insert_page(vmf->vma->vm_private_data, vmf,
					  vmf->pgoff);
}

static const struct vm_operations_struct exanet_vm_ops = {
	.fault = exanet_vm_fault,
};

static int exanet_user_mmap(struct exanet_context *ctx, struct vm_area_struct *vma)
{
	vm_flags_t forbid = VM_MAYEXEC;

	if (vma->vm_pgoff >= EXANET_USER_PAGES ||
	    vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (vma->vm_pgoff == EXANET_PAGE_INFO) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		forbid |= VM_MAYWRITE;
	}
	exanet_vma_device(vma, forbid);
	vma->vm_private_data = ctx;
	vma->vm_ops = &exanet_vm_ops;
	return 0;
}

static int exanet_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct exanet_context *ctx = file->private_data;

	/* User page n has offset n << EXANET_MMAP_SHIFT, so its vm_pgoff must be n. */
	BUILD_BUG_ON(PAGE_SHIFT != EXANET_MMAP_SHIFT);

	if (!exanet_file_is_owner(ctx))
		return -EPERM;
	if (vma->vm_pgoff >= EXANET_MMAP_BRAM >> PAGE_SHIFT)
		return exanet_bram_mmap(ctx, vma);
	if (vma->vm_pgoff >= EXANET_MMAP_APERTURE >> PAGE_SHIFT)
		return exanet_segment_mmap(ctx, vma);
	return exanet_user_mmap(ctx, vma);
}

const struct file_operations exanet_file_ops = {
	.owner = THIS_MODULE,
	.open = exanet_file_open,
	.release = exanet_file_release,
	.read = exanet_file_read,
	.poll = exanet_file_poll,
	.unlocked_ioctl = exanet_file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = exanet_file_mmap,
};
