"""The scalar equation in mpmath: a second route to density, Stieltjes transform and edges of commuting ensembles."""

from typing import TYPE_CHECKING, Any

from theory.random_matrix.spectral.ensemble import CommutingEnsemble

if TYPE_CHECKING:
    import mpmath


def density(ensemble: CommutingEnsemble, nu: Any, digits: int = 30) -> "mpmath.mpf":
    """Compute the density of the eigenvalues at a real nu inside a bulk."""
    import mpmath

    with mpmath.workdps(digits + 10):
        return stieltjes(ensemble, mpmath.mpf(nu), digits).imag / mpmath.pi


def stieltjes(ensemble: CommutingEnsemble, nu: Any, digits: int = 30) -> "mpmath.mpc":
    """Compute tr (S - nu)^-1/d at Im nu >= 0, continued in small steps from far above the real line down to nu."""
    import mpmath

    with mpmath.workdps(digits + 10):
        atoms = [tuple(map(mpmath.mpf, atom)) for atom in _atoms(ensemble)]
        alpha, nu = mpmath.mpf(ensemble.alpha), mpmath.mpmathify(nu)
        height = 10 * max(s + o for s, o, _ in atoms) * (1 + 1 / alpha)
        h = mpmath.mpc(1, -mpmath.mpf("1e-3"))
        for step in range(200):
            h = _newton(atoms, alpha, nu + 1j * height * mpmath.mpf("0.8") ** step, h)
        h = _newton(atoms, alpha, nu, h)
        assert h.imag < 0
        return mpmath.fsum(w / (s * h + o - nu) for s, o, w in atoms)


def edge(ensemble: CommutingEnsemble, nu: float, h: float, digits: int = 30) -> "mpmath.mpf":
    """Compute the edge near nu, where the scalar equation F has a double root near h: F = F_h = 0."""
    import mpmath

    with mpmath.workdps(digits + 10):
        atoms, alpha = [tuple(map(mpmath.mpf, atom)) for atom in _atoms(ensemble)], mpmath.mpf(ensemble.alpha)

        def double_root(h: Any, nu: Any) -> tuple[Any, Any]:
            t = [(w, s / (s * h + o - nu)) for s, o, w in atoms if s]
            first, second = (mpmath.fsum(w * x**k for w, x in t) / alpha for k in (1, 2))
            return h - 1 + h * first, 1 - h * h * second

        return mpmath.findroot(double_root, (mpmath.mpf(h), mpmath.mpf(nu)))[1]


def _newton(atoms: Any, alpha: Any, nu: Any, h: Any) -> Any:
    import mpmath

    for _ in range(50):
        t = [(w, s / (s * h + o - nu)) for s, o, w in atoms if s]
        first, second = (mpmath.fsum(w * x**k for w, x in t) / alpha for k in (1, 2))
        step = (h - 1 + h * first) / (1 + first - h * second)
        h -= step
        if abs(step) < mpmath.eps * 100 * abs(h):
            break
    return h


def _atoms(ensemble: CommutingEnsemble) -> list[tuple[float, float, float]]:
    atoms = ensemble.distinct
    return list(zip(atoms.sigma.tolist(), atoms.offset.tolist(), atoms.weights.tolist(), strict=True))
