/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The computation of a climate model [T §6.4]: the update y += A x, cell by cell.  The mesh
 * has layers of hexahedra; a cell is a column of hexahedra, one in each layer.  Each of them
 * has a small matrix and eight nodes (corners), which are in four columns of nodes.  Cells
 * of one colour have no node in common.  So updates of cells of one colour may have any
 * order, or run at the same time.
 */
#ifndef EXAMPLES_CLIMATE_H
#define EXAMPLES_CLIMATE_H

#include <stddef.h>
#include <stdint.h>

#define CLIMATE_NDF	8	/* number of nodes of a cell in a layer */
#define CLIMATE_COLOURS	4

/* The sizes of a mesh, and the offsets, in bytes, of all its data in one block of memory. */
struct climate {
	unsigned int nx, ny;	/* number of cells of the mesh in each direction */
	unsigned int nlayers;	/* number of layers of each cell */
	unsigned int ncells;	/* number of cells, nx * ny */
	unsigned int nvalues;	/* number of values of x, which is also the number of values of
				 * y */
	size_t matrix;		/* double [ncells][nlayers][NDF][NDF] */
	size_t x;		/* double [nvalues] */
	size_t y;		/* double [nvalues] */
	size_t map;		/* uint32_t [ncells][NDF]: index of a node of layer 0 in
				 * x and in y; the node of layer k has this index + k */
	size_t cells;		/* uint32_t [ncells]: numbers of cells, sorted by colour */
	size_t bytes;		/* size of the block, a multiple of 8 */
	/* The cells of colour c are the elements colour[c] to colour[c + 1] - 1 of cells. */
	unsigned int colour[CLIMATE_COLOURS + 1];
};

/* Fills @c for a mesh of @nx times @ny cells with @nlayers layers in each cell. */
void climate_layout(struct climate *c, unsigned int nx, unsigned int ny,
		    unsigned int nlayers);

/*
 * Fills the block of @c->bytes bytes at @mem, which is ordinary memory, with the initial
 * state.
 */
void climate_fill(const struct climate *c, uint8_t *mem);

/*
 * Updates all cells of colour @colour in the block of memory at @mem.  The memory may
 * belong to a device, because the function uses only aligned accesses of 4 and 8 bytes.
 */
void climate_update(const struct climate *c, volatile uint8_t *mem,
		    unsigned int colour);

/* Returns the number of memory accesses of climate_update() for one update of all colours. */
double climate_accesses(const struct climate *c);

/* Returns a checksum of the values of y in the block at @mem, which is ordinary memory. */
uint64_t climate_checksum(const struct climate *c, const uint8_t *mem);

#endif /* EXAMPLES_CLIMATE_H */
