"""NVCF: upgrade prerequisites and recovery for self-managed fleets."""
