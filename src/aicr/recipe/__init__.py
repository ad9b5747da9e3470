"""What a cluster should run: criteria, resolution, values."""
