"""Measurements, never tests: `make bench` prints figures, says which miss their goal, and whoever reads them knows the machine."""
