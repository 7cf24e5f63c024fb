"""What makes up for JAX's versions, 0.9 to 0.12, and what is changed in JAX while it traces."""
