"""The upgrade check: whether a move between two artifacts is safe, from transition records."""
