"""Checks of the exercises: each takes what a learner wrote and returns a `Verdict`."""
