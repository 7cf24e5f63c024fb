"""Reads JAX's equations: a rule for each primitive, and what several rules need."""
