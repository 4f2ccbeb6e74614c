"""Labelling, analysis, matches and tuning, cut into tasks."""
