"""Says which pairs of sites to trust: false discovery rates, known contacts, and what gaps leave out."""
