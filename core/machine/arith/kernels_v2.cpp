// Compiled for x86-64-v2.
#define ARITH_LEVEL x86v2
#define ARITH_LANES 4
#define ARITH_TILE_ROWS 4
#define ARITH_STRIP_COLUMNS 128
#include "core/machine/arith/kernels.inc" // IWYU pragma: keep
