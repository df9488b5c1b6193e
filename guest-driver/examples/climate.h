/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The kernel of a climate model [T §6.4]: y += A x, cell by cell, on a mesh of
 * hexahedra.  Nodes of the mesh form columns; a cell has eight of them in four columns,
 * and a small matrix in each layer.  Cells of one colour have no node in common, so their
 * updates may have any order, or run at the same time.
 */
#ifndef EXAMPLES_CLIMATE_H
#define EXAMPLES_CLIMATE_H

#include <stddef.h>
#include <stdint.h>

#define CLIMATE_NDF	8	/* nodes of a cell */
#define CLIMATE_COLOURS	4

/* The offsets of all data in one block of memory. */
struct climate {
	unsigned int nx, ny;	/* cells of the mesh in each direction */
	unsigned int nlayers;
	unsigned int ncells;
	unsigned int nvalues;	/* values of x; y has as many */
	size_t matrix;		/* double [ncells][nlayers][NDF][NDF] */
	size_t x;		/* double [nvalues] */
	size_t y;
	size_t map;		/* uint32_t [ncells][NDF]: index of a node's column in
				 * x and in y */
	size_t cells;		/* uint32_t [ncells], by colour */
	size_t bytes;		/* size of the block, a multiple of 8 */
	/* Colour c has the elements colour[c] to colour[c + 1] - 1 of cells. */
	unsigned int colour[CLIMATE_COLOURS + 1];
};

/* Computes the layout of a mesh. */
void climate_layout(struct climate *c, unsigned int nx, unsigned int ny,
		    unsigned int nlayers);

/* Fills @c->bytes bytes at @mem, which is ordinary memory, with the initial state. */
void climate_fill(const struct climate *c, uint8_t *mem);

/* Updates all cells of @colour, by aligned accesses to @mem, which may be of a device. */
void climate_update(const struct climate *c, volatile uint8_t *mem,
		    unsigned int colour);

/* Returns the number of memory accesses of an update of all colours. */
double climate_accesses(const struct climate *c);

/* Returns a checksum of y in the block at @mem, which is ordinary memory. */
uint64_t climate_checksum(const struct climate *c, const uint8_t *mem);

#endif /* EXAMPLES_CLIMATE_H */
