"""Measurements, never tests: `make bench` prints figures, and whoever reads them judges."""
