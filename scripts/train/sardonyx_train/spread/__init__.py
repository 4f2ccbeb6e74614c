"""Labelling, analysis and matches, cut into tasks."""
