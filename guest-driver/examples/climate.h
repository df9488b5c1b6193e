/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The kernel of a climate model [T §6.4]: y += A x, cell by cell, on a mesh of
 * hexahedra.  Nodes of the mesh form columns.  In each layer a cell has eight nodes, which
 * are in four columns, and a small matrix.  Cells of one colour have no node in common.  So
 * updates of cells of one colour may have any order, or run at the same time.
 */
#ifndef EXAMPLES_CLIMATE_H
#define EXAMPLES_CLIMATE_H

#include <stddef.h>
#include <stdint.h>

#define CLIMATE_NDF	8	/* nodes of a cell in a layer */
#define CLIMATE_COLOURS	4

/* The sizes of a mesh, and the offsets of all its data in one block of memory, in bytes. */
struct climate {
	unsigned int nx, ny;	/* cells of the mesh in each direction */
	unsigned int nlayers;	/* layers of each cell */
	unsigned int ncells;	/* nx * ny */
	unsigned int nvalues;	/* values of x; y has as many */
	size_t matrix;		/* double [ncells][nlayers][NDF][NDF] */
	size_t x;		/* double [nvalues] */
	size_t y;		/* double [nvalues] */
	size_t map;		/* uint32_t [ncells][NDF]: index of a node of layer 0 in
				 * x and in y; the node of layer k has this index + k */
	size_t cells;		/* uint32_t [ncells]: numbers of cells, by colour */
	size_t bytes;		/* size of the block, a multiple of 8 */
	/* Colour c has the elements colour[c] to colour[c + 1] - 1 of cells. */
	unsigned int colour[CLIMATE_COLOURS + 1];
};

/* Fills @c for a mesh of @nx times @ny cells with @nlayers layers each. */
void climate_layout(struct climate *c, unsigned int nx, unsigned int ny,
		    unsigned int nlayers);

/* Fills @c->bytes bytes at @mem, which is ordinary memory, with the initial state. */
void climate_fill(const struct climate *c, uint8_t *mem);

/*
 * Updates all cells of colour @colour in the block at @mem, which may be memory of a
 * device, by aligned accesses of 4 and 8 bytes.
 */
void climate_update(const struct climate *c, volatile uint8_t *mem,
		    unsigned int colour);

/* Returns the number of memory accesses by which climate_update() updates all colours. */
double climate_accesses(const struct climate *c);

/* Returns a checksum of y in the block at @mem, which is ordinary memory. */
uint64_t climate_checksum(const struct climate *c, const uint8_t *mem);

#endif /* EXAMPLES_CLIMATE_H */
