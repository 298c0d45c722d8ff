"""How tests look at aligned sequences."""


def text(sequences):
    """The sequences as strings."""
    return ["".join(sequences.tokens[color] for color in row) for row in sequences.states]
