#!/usr/bin/env python3
"""Makes dtype_tables.json: what ml_dtypes and JAX (on a CPU) say about every dtype.

    pip install jax ml_dtypes && python3 make_dtype_tables.py

Codes are hexadecimal digits, one element after another, as many as the dtype's bytes need. A NaN is
replaced by the quiet NaN of its sign. Of long lists only checksums are kept (see `checksum`).
"""

import json
import os
import pathlib

# Keeps every rounding that is written.
os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"

import jax  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

DTYPES = {
    "f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2, "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4, "int8": np.int8, "uint8": np.uint8,
    "int16": np.int16, "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32, "bool": np.bool_,
}  # fmt: skip
# Formats that are not dtypes of this project, to show that the rules are generic.
OTHERS = {
    "f8e4m3": ml_dtypes.float8_e4m3, "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f6e2m3fn": ml_dtypes.float6_e2m3fn, "f6e3m2fn": ml_dtypes.float6_e3m2fn,
}  # fmt: skip
BITS = {"f6e2m3fn": 6, "f6e3m2fn": 6, "f4e2m1fn": 4, "int2": 2, "uint2": 2,
        "int4": 4, "uint4": 4}
NO_NAN = {"f4e2m1fn", "f6e2m3fn", "f6e3m2fn"}


def bits_of(name):
    return BITS.get(name, 8 * np.dtype((DTYPES | OTHERS)[name]).itemsize)


def is_float(name):
    return name in OTHERS or name[0] in "fb" and name != "bool"


def unsigned(name):
    return {1: np.uint8, 2: np.uint16, 4: np.uint32}[(bits_of(name) + 7) // 8]


def numbers(name, codes):
    return np.asarray(codes).astype(unsigned(name)).view((DTYPES | OTHERS)[name])


def quiet_nan(name, negative):
    """Returns the code of NaN, from ml_dtypes."""
    value = np.array([-np.nan if negative else np.nan], np.float32)
    return int(value.astype((DTYPES | OTHERS)[name]).view(unsigned(name))[0])


def codes_of(name, values):
    codes = np.asarray(values).view(unsigned(name)).astype(np.uint32) & ((1 << bits_of(name)) - 1)
    if is_float(name) and name not in NO_NAN:
        nan = np.isnan(np.asarray(values).astype(np.float32))
        sign = codes >> (bits_of(name) - 1) != 0
        codes = np.where(nan, np.where(sign, quiet_nan(name, True), quiet_nan(name, False)), codes)
    return codes.astype(np.uint32)


def narrowed(name, values):
    """Converts f32 to a float. If the float has no NaN, JAX turns every NaN into -0 (ml_dtypes:
    into 0 of the NaN's sign)."""
    with np.errstate(all="ignore"):
        codes = codes_of(name, values.astype((DTYPES | OTHERS)[name]))
    if name in NO_NAN:
        codes = np.where(np.isnan(values), 1 << (bits_of(name) - 1), codes)
    return codes


def hexadecimal(name, codes):
    digits = 2 * ((bits_of(name) + 7) // 8)
    return "".join(f"{int(code):0{digits}x}" for code in codes)


def checksum(codes):
    """Returns the sum over i of mix(code[i] + 2^32 * i), in 64 bits that wrap."""
    x = np.asarray(codes).astype(np.uint64).ravel()
    x = x + (np.arange(x.size, dtype=np.uint64) << np.uint64(32))
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return f"{int(np.sum(x, dtype=np.uint64)):016x}"


def midpoints(name):
    """Returns for each finite positive code: its value, the middle to the next value (also one step
    beyond the largest), and the f32 on both sides of the middle; then the same, negated."""
    codes = np.arange(1 << (bits_of(name) - 1))
    values = numbers(name, codes).astype(np.float32)
    values = values[np.isfinite(values)].astype(np.float64)
    beyond = values[-1] + (values[-1] - values[-2])
    half = ((values + np.append(values[1:], beyond)) / 2).astype(np.float32)
    columns = [values.astype(np.float32), np.nextafter(half, np.float32(0)), half,
               np.nextafter(half, np.float32(np.inf))]  # fmt: skip
    rows = np.stack(columns, axis=1).ravel()
    return np.concatenate([rows, -rows])


SPECIAL = np.array(
    [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
     0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF912345], np.uint32)  # fmt: skip
# One f32 in 4096: every sign and exponent, and 11 bits of mantissa.
SWEEP = (np.arange(1 << 20, dtype=np.uint32) << np.uint32(12)).view(np.float32)


def float_tables(name):
    wide = numbers(name, np.arange(1 << bits_of(name))).astype(np.float32)
    halves = narrowed(name, midpoints(name))
    table = {"special": hexadecimal(name, narrowed(name, SPECIAL.view(np.float32))),
             "sweep": [checksum(narrowed(name, part)) for part in np.split(SWEEP, 16)]}  # fmt: skip
    if bits_of(name) <= 8:
        table["widen"] = hexadecimal("f32", codes_of("f32", wide))
        table["midpoints"] = hexadecimal(name, halves)
    else:  # a checksum for every 256 codes
        table["widen"] = [checksum(part) for part in codes_of("f32", wide).reshape(-1, 256)]
        table["midpoints"] = [checksum(part) for part in np.split(halves, range(1024, halves.size, 1024))]
    return table


def inputs(name):
    """Returns all codes of 16 bits or fewer; for 32 bits, every edge of every dtype and numbers
    between them."""
    if bits_of(name) <= 16:
        return np.arange(2 if name == "bool" else 1 << bits_of(name), dtype=np.uint32)
    edges = [0, 1, -1, 2, 3, 1000, 65504, 65519, 65520, 61439, 61440, 464, 465, 30, 31, 32, 5, 6, 7]
    for bits in (4, 8, 16, 31, 32):
        edges += [(1 << bits) + d for d in (-129, -2, -1, 0, 1, 2)]
    random = np.random.default_rng(0)
    if name == "f32":
        edges = np.array(edges, np.float64)
        spread = np.exp(random.uniform(-80, 80, 1000))
        values = np.concatenate([edges, edges + 0.5, edges * (1 + 2e-7), 1 / (edges + 0.25), spread,
                                 random.uniform(0, 300, 300), SPECIAL[5::2].view(np.float32)])  # fmt: skip
        values = np.concatenate([values, -values]).astype(np.float32)
        return np.unique(values[~((values != 0) & (abs(values) < 2e-38))].view(np.uint32))
    edges = np.array(edges + [-edge for edge in edges], np.int64).astype(np.uint32)
    return np.unique(np.concatenate([edges, random.integers(0, 1 << 32, 1000, np.uint32)]))


def subnormal(name, codes):
    """Returns whether codes are f32 subnormals, which XLA's CPU backend treats as 0 where it
    computes."""
    values = numbers(name, codes).astype(np.float32)
    return (values != 0) & (abs(values) < 2**-126)


def positive_nan(name, values):
    """Makes NaN positive, because JAX keeps the sign of a NaN on some paths only."""
    codes = codes_of(name, values)
    if is_float(name) and name not in NO_NAN:
        codes[np.isnan(np.asarray(values).astype(np.float32))] = quiet_nan(name, False)
    return codes


def converted(source, target, codes):
    values = numbers(source, codes)
    # XLA's CPU backend takes 6 for infinity when it converts to an integer.
    if source == "f4e2m1fn":
        values = values.astype(np.float32)
    function = jax.jit(lambda x: jax.lax.convert_element_type(x, DTYPES[target]))
    return positive_nan(target, np.asarray(function(values)))


def conversion_tables():
    tables = {}
    for source in DTYPES:
        codes = inputs(source)
        if is_float(source):
            codes = codes[~subnormal(source, codes)]
        shown = codes[:: max(1, len(codes) // 16)]
        table = {"inputs": hexadecimal(source, codes) if bits_of(source) == 32 else checksum(codes)}
        for target in DTYPES:
            table[target] = [checksum(converted(source, target, codes)),
                             hexadecimal(target, converted(source, target, shown))]  # fmt: skip
        tables[source] = table
    return tables


COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
OPERATIONS = {
    "float": (("neg", "abs", "sign", "floor", "ceil", "square", "is_finite"),
              ("add", "sub", "mul", "div", "rem", "max", "min", *COMPARE)),
    "whole": (("neg", "abs", "sign", "not", "square"),
              ("add", "sub", "mul", "div", "rem", "max", "min", "and", "or", "xor", *COMPARE)),
    "bool": (("not",), ("and", "or", "xor", *COMPARE)),
}  # fmt: skip
LAX = {"not": "bitwise_not", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}


def operands(name):
    """Returns all codes of 8 bits or fewer; for wider dtypes, some codes whose results are not f32
    subnormals."""
    if bits_of(name) <= 8:
        return inputs(name)
    random = np.random.default_rng(1)
    if not is_float(name):
        low, high = int(np.iinfo(DTYPES[name]).min), int(np.iinfo(DTYPES[name]).max)
        edges = [low, low + 1, low + 2, high // 2, high - 2, high - 1, high, 0, 1, 2, 3, 7, 100]
        edges += [-edge for edge in edges if low <= -edge <= high]
        values = np.concatenate([edges, random.integers(low, high, 40, np.int64)])
        return np.unique(codes_of(name, values.astype(DTYPES[name])))
    most = 4 if name == "f16" else 14
    spread = np.exp2(random.uniform(-most, most, 20))
    edges = [0, 0.5, 1, 1.5, 2, 3, 7, 7.5, 10, 100, 3.25, np.inf, np.nan]
    values = np.concatenate([edges, np.exp(spread[:5]) if name == "f16" else np.exp2(3 * spread[:5] % 40), spread])
    return np.unique(codes_of(name, np.concatenate([values, -values]).astype(DTYPES[name])))


def computed(name, operation, arguments):
    """Computes with JAX. It has few rules for integers narrower than a byte, so those go through
    int32, as in a kernel."""
    function = getattr(jax.lax, LAX.get(operation, operation))
    if is_float(name) or bits_of(name) >= 8:
        return np.asarray(jax.jit(function)(*arguments))
    result = jax.jit(function)(*(x.astype(np.int32) for x in arguments))
    keeps = result.dtype == np.bool_
    return np.asarray(result if keeps else jax.lax.convert_element_type(result, DTYPES[name]))


def arithmetic_tables():
    """Returns for each operation the checksum of its codes over all operands, or over pairs of them
    in row-major order. NaN are positive."""
    tables = {}
    for name in DTYPES:
        kind = "bool" if name == "bool" else "float" if is_float(name) else "whole"
        codes = operands(name)
        a, b = (np.repeat(codes, codes.size), np.tile(codes, codes.size))
        table = {} if bits_of(name) <= 8 else {"operands": hexadecimal(name, codes)}
        for arity, operations in zip((1, 2), OPERATIONS[kind]):
            for operation in operations:
                if operation == "abs" and name[0] == "u":
                    continue
                arguments = [numbers(name, x) for x in ([codes] if arity == 1 else [a, b])]
                result = computed(name, operation, arguments)
                answer = "bool" if result.dtype == np.bool_ else name
                table[operation] = checksum(positive_nan(answer, result))
        tables[name] = table
    return tables


def main():
    tables = {
        "versions": {"jax": jax.__version__, "ml_dtypes": ml_dtypes.__version__},
        "floats": {name: float_tables(name) for name in DTYPES | OTHERS if is_float(name) and name != "f32"},
        "conversions": conversion_tables(),
        "arithmetic": arithmetic_tables(),
    }
    path = pathlib.Path(__file__).with_name("dtype_tables.json")
    path.write_text(json.dumps(tables, indent=0) + "\n")


if __name__ == "__main__":
    main()
