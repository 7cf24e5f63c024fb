"""Operations of the function around the kernels: its arrays, its collectives, what XLA fuses."""
