// Compiled for x86-64-v4.
#define ARITH_LEVEL x86v4
#define ARITH_LANES 16
#define ARITH_TILE_ROWS 14
#define ARITH_STRIP_COLUMNS 256
#include "core/machine/arith/kernels.inc" // IWYU pragma: keep
