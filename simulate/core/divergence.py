"""The error of every training that runs away."""

from theory.core.errors import MaskedSSLError


class DivergenceError(MaskedSSLError, FloatingPointError):
    """A training has left the range of floating point numbers; the message names the step and the rate."""
