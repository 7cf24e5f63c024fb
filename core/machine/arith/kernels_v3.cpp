// Compiled for x86-64-v3.
#define ARITH_LEVEL x86v3
#define ARITH_LANES 8
#define ARITH_TILE_ROWS 6
#define ARITH_STRIP_COLUMNS 128
#include "core/machine/arith/kernels.inc" // IWYU pragma: keep
