"""The table of all primitives that a kernel may have, with their rules."""

from __future__ import annotations

from pallascope.rules import (bitcasts, chip_generator, concatenation, control_flow, conversions,
                              convolutions, copies, debug, elementwise, gather_scatter,
                              grid_queries, identities, linear_algebra, matrix_unit, memory,
                              philox, pipelines, products, random_keys, reductions, retraced,
                              scans, scoped_memory, semaphores, shapes, sorts, special_functions,
                              windows)
from pallascope.walk import Rule

_MODULES = (bitcasts, chip_generator, concatenation, control_flow, conversions, convolutions,
            copies, debug, elementwise, gather_scatter, grid_queries, identities, linear_algebra,
            matrix_unit, memory, philox, pipelines, products, random_keys, reductions, retraced,
            scans, scoped_memory, semaphores, shapes, sorts, special_functions, windows)

RULES: dict[str, Rule] = {name: rule for module in _MODULES for name, rule in module.RULES.items()}
