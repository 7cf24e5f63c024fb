#!/usr/bin/env python3
"""Makes the .npz fixtures beside this script with NumPy and ml_dtypes (any recent version).

    make_fixtures.py

args.npz holds arg0, arg1, ... as npy_test.cpp lists them. The elements count up from -3 in steps of
1 (bools alternate), so the test knows them without the file.
"""

import pathlib

import ml_dtypes
import numpy

HERE = pathlib.Path(__file__).parent


def counting(dtype, shape):
    numbers = numpy.arange(int(numpy.prod(shape))) - 3
    return numbers.reshape(shape).astype(dtype)


def main():
    numpy.savez(
        HERE / "args.npz",
        arg0=counting(numpy.float32, (3, 5)),
        arg1=counting(ml_dtypes.bfloat16, (2, 4)),
        arg2=counting(numpy.int32, (7,)),
        arg3=(numpy.arange(6) % 2 == 1).reshape(2, 3),
        arg4=numpy.asfortranarray(counting(numpy.float32, (3, 5))),
        arg5=counting(numpy.float32, ()),
    )
    numpy.savez_compressed(HERE / "packed.npz", arg0=counting(ml_dtypes.bfloat16, (2, 3, 4)))


if __name__ == "__main__":
    main()
