"""What the author calls things: the functions, their arguments, and the variables that hold what
they return. JAX knows less of that than the sources say."""
