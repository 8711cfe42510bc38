#!/usr/bin/env python3
"""Simulate random walks."""
import numpy as np

rng = np.random.default_rng(7)
drift, spread = np.load("params.npy")

steps = rng.normal(drift, spread, size=(1000, 252))
paths = np.cumsum(steps, axis=1)

final = paths[:, -1]
print("mean", final.mean())
print("p05", np.quantile(final, 0.05))
print("p95", np.quantile(final, 0.95))
np.save("paths.npy", paths)
