"""All cases that are timed, by family."""
import attention
import norms
import own_kernels
import products
import triton_attention

CASES = [*attention.CASES, *products.CASES, *triton_attention.CASES, *norms.CASES, *own_kernels.CASES]
