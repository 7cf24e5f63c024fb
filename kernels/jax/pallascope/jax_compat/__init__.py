"""Makes up for the differences between JAX's versions, 0.9 to 0.12, and changes JAX while it
traces."""
