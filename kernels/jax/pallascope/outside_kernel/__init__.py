"""Operations of the function around the kernels: its arrays, its collectives, and what XLA fuses.
"""
