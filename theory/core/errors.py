"""The one base class of every failure that this toolkit raises on purpose, besides ValueError for a bad argument."""


class MaskedSSLError(Exception):
    """The base class of the toolkit's own errors: catch it to handle every failure that is not a bad argument.

    Its subclasses are `ConvergenceError` (a solver found no verified solution, or only an unstable one, which raises
    `ReplicaSymmetryError`), `FitError` (a minimization did not reach its minimum), `MixingError` (Markov chains have
    not mixed), `TaskError` (a task of a parallel sweep failed), `CheckpointError` (a saved run cannot be used),
    `DivergenceError` (training left the range of floating point numbers) and `DataError` (a user's file cannot be
    used). A bad argument is a ValueError that names the argument, its value and what is allowed.
    """


class FitError(MaskedSSLError, RuntimeError):
    """A fit has not reached its minimum, or there is none; the message says what is left and what to change.

    Where an unfinished fit can be used, `.fit` holds the result that `check=False` would have returned, else None.
    """

    def __init__(self, message: str, fit: object = None) -> None:
        super().__init__(message)
        self.fit = fit
