"""Tables of text, whatever their cells hold: how one is laid out, what a cell is, and which columns are read."""
