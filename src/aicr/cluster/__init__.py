"""One Kubernetes connection, and what can be read through it. Knows nothing of recipes."""
