"""Attention of [batch, length, heads, channels] and its gradients, in float32, for tests to compare
with."""

import numpy as np

_F16 = np.float16


def weights(scores):
    """The softmax of the last axis."""
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _weights_of(q, k, causal=False, segments=None):
    scores = np.einsum("bqhc,bkhc->bhqk", q, k)
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if segments is not None:
        scores = np.where((segments[:, :, None] == segments[:, None])[:, None], scores, -np.inf)
    return weights(scores)


def attended(q, k, v, segments=None, causal=False):
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    return np.einsum("bhqk,bkhc->bqhc", _weights_of(q, k, causal, segments), v).astype(_F16)


def gradients(q, k, v):
    """The gradients of the sum of all elements."""
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    found = _weights_of(q, k)
    of_out = np.ones_like(q)
    of_scores = np.einsum("bqhc,bkhc->bhqk", of_out, v)
    of_scores = found * (of_scores - (found * of_scores).sum(-1, keepdims=True))
    return tuple(of.astype(_F16) for of in (
        np.einsum("bhqk,bkhc->bqhc", of_scores, k), np.einsum("bhqk,bqhc->bkhc", of_scores, q),
        np.einsum("bhqk,bqhc->bkhc", found, of_out)))
