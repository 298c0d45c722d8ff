"""Numbers the sites of an alignment by the residues of a sequence, and lists them."""
