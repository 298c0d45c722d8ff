"""Says in captions how much bars of two standard errors hold, which is less than they seem to where repeats are few."""

from scipy.special import stdtr


def bars(n: int) -> str:
    """Describes the bars of means over `n` independent repeats, with the share of cases in which they hold the truth.

    By Student's t with n - 1 degrees of freedom, for normal repeats.

    >>> bars(2)
    "bars of two standard errors, which hold the true mean in 70% of cases (Student's t, n = 2)"
    """
    share = 2 * stdtr(n - 1, 2.0) - 1
    return f"bars of two standard errors, which hold the true mean in {share:.0%} of cases (Student's t, n = {n})"
