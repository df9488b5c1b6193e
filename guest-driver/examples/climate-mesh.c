// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * The mesh of exanet-climate and the update of its cells.
 */
#include <string.h>

#include "climate.h"
#include "common.h"

void climate_layout(struct climate *c, unsigned int nx, unsigned int ny,
		    unsigned int nlayers)
{
	*c = (struct climate) {
		.nx = nx, .ny = ny, .nlayers = nlayers, .ncells = nx * ny,
		.nvalues = (nx + 1) * (ny + 1) * (nlayers + 1),
	};
	c->x = (size_t)c->ncells * nlayers * CLIMATE_NDF * CLIMATE_NDF * 8;
	c->y = c->x + (size_t)c->nvalues * 8;
	c->map = c->y + (size_t)c->nvalues * 8;
	c->cells = c->map + (size_t)c->ncells * CLIMATE_NDF * 4;
	c->bytes = (c->cells + (size_t)c->ncells * 4 + 7) & ~(size_t)7;
	for (unsigned int n = 0; n < CLIMATE_COLOURS; n++)
		/* In each direction, a colour has either all odd or all even cells. */
		c->colour[n + 1] = c->colour[n] +
			(nx + !(n & 1)) / 2 * ((ny + !(n & 2)) / 2);
}

/*
 * Returns number @i of a pseudo-random sequence.  The numbers are at least -1 and below 1.
 * The computation does not round, so the number is the same on all machines.
 */
static double climate_value(uint64_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (double)(int64_t)(z >> 11) / (1LL << 52) - 1;
}

static void climate_fill_map(const struct climate *c, uint32_t *map)
{
	for (unsigned int cell = 0; cell < c->ncells; cell++) {
		for (unsigned int df = 0; df < CLIMATE_NDF; df++) {
			unsigned int x = cell % c->nx + (df & 1);
			unsigned int y = cell / c->nx + (df >> 1 & 1);

			/*
			 * Nodes 4 to 7 of a cell are above nodes 0 to 3 in the same
			 * columns, so their index is higher by 1.
			 */
			*map++ = (y * (c->nx + 1) + x) * (c->nlayers + 1) +
				 (df >> 2);
		}
	}
}

static void climate_fill_cells(const struct climate *c, uint32_t *cells)
{
	for (unsigned int n = 0; n < CLIMATE_COLOURS; n++)
		for (unsigned int cell = 0; cell < c->ncells; cell++)
			if (cell % c->nx % 2 == (n & 1) &&
			    cell / c->nx % 2 == n >> 1)
				*cells++ = cell;
}

void climate_fill(const struct climate *c, uint8_t *mem)
{
	double *matrix = (double *)(mem + c->matrix);
	double *x = (double *)(mem + c->x);
	double *y = (double *)(mem + c->y);
	size_t i;

	memset(mem, 0, c->bytes);
	for (i = 0; i < c->x / 8; i++)
		matrix[i] = climate_value(i);
	for (i = 0; i < c->nvalues; i++) {
		x[i] = climate_value(1ULL << 40 | i);
		y[i] = climate_value(1ULL << 41 | i);
	}
	climate_fill_map(c, (uint32_t *)(mem + c->map));
	climate_fill_cells(c, (uint32_t *)(mem + c->cells));
}

/*
 * Returns the product of the matrix row at @row and the values of x at the nodes of a cell
 * in a layer.  @x is the address of the value of x with index 0 in this layer; @map has the
 * indices of the nodes.
 */
static double climate_row(const volatile uint8_t *row, const volatile uint8_t *x,
			  const uint32_t *map)
{
	double sum = 0;

	for (unsigned int df = 0; df < CLIMATE_NDF; df++)
		sum += load_double(row + 8 * df) *
		       load_double(x + 8ULL * map[df]);
	return sum;
}

static void climate_cell(const struct climate *c, volatile uint8_t *mem,
			 uint32_t cell)
{
	volatile uint8_t *row = mem + c->matrix + (size_t)cell * c->nlayers *
				CLIMATE_NDF * CLIMATE_NDF * 8;
	uint32_t map[CLIMATE_NDF];
	unsigned int df, k;

	for (df = 0; df < CLIMATE_NDF; df++)
		map[df] = *(volatile uint32_t *)(mem + c->map +
			  4 * ((size_t)cell * CLIMATE_NDF + df));
	for (k = 0; k < c->nlayers; k++) {
		for (df = 0; df < CLIMATE_NDF; df++, row += CLIMATE_NDF * 8) {
			volatile uint8_t *y = mem + c->y + 8ULL * (map[df] + k);

			store_double(y, load_double(y) +
				     climate_row(row, mem + c->x + 8ULL * k,
						 map));
		}
	}
}

void climate_update(const struct climate *c, volatile uint8_t *mem,
		    unsigned int colour)
{
	const volatile uint32_t *cells = (volatile uint32_t *)(mem + c->cells);

	for (unsigned int i = c->colour[colour]; i < c->colour[colour + 1]; i++)
		climate_cell(c, mem, cells[i]);
}

double climate_accesses(const struct climate *c)
{
	double row = 2 * CLIMATE_NDF + 2;

	return c->ncells * (1 + CLIMATE_NDF +
			    c->nlayers * CLIMATE_NDF * row);
}

uint64_t climate_checksum(const struct climate *c, const uint8_t *mem)
{
	uint64_t sum = 0xcbf29ce484222325ULL;	/* initial value of FNV-1a */

	for (size_t i = 0; i < (size_t)c->nvalues * 8; i++)
		sum = (sum ^ mem[c->y + i]) * 0x100000001b3ULL;
	return sum;
}
