"""Upstream Helm charts: where they come from, what is in them, and what they render to."""
