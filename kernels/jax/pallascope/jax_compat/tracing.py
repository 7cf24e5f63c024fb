"""All that is changed in JAX while a function is traced for capture."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jax._src import config as jax_config

from pallascope.jax_compat import pipeline_bodies
from pallascope.jax_compat.indirect_blocks import lists_hidden
from pallascope.jax_compat.stand_in_devices import device_of, devices_named

# None up to 0.10.0, which has no equation for emit_pipeline.
_pipeline_flag = getattr(jax_config, "use_emit_pipeline_primitive", None)

# Whether emit_pipeline is one equation when it is traced: what to try, one after the other.
PIPELINE_FORMS = (True, False)


def numbers_of_32_bits() -> contextlib.AbstractContextManager[None]:
    """Makes JAX take numbers of 64 bits for those of 32, as it does unless it is told otherwise: a
    chip has no others."""
    return jax_config.enable_x64(False)


@contextlib.contextmanager
def tracing_for(chip: str, cores: int = 1, mesh: Any = None,
                whole_pipelines: bool = True) -> Iterator[None]:
    """Makes JAX trace as for these cores of each device."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(device_of(chip, cores, mesh))
        stack.enter_context(devices_named(chip))
        if _pipeline_flag is not None:
            stack.enter_context(_pipeline_flag(whole_pipelines))
            stack.enter_context(lists_hidden())
            if whole_pipelines:
                stack.enter_context(pipeline_bodies.all_arguments_taken())
        elif whole_pipelines:
            from pallascope.jax_compat import pipeline_equation  # needs what later JAX may lack
            stack.enter_context(pipeline_equation.pipelines_whole())
        yield
