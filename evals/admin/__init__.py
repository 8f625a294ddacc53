"""The desk in the stock admin: each file declares one topic."""

from evals.admin import cases, datasets, gates, held_out, recordings, runs, versions

__all__ = ["cases", "datasets", "gates", "held_out", "recordings", "runs", "versions"]
