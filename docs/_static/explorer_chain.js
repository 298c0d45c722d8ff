// Closed forms of an AR(1) chain of infinitely many coordinates, for the page explorer.md. They are the equations that
// theory/ solves: with lo = (1-r)/(1+r), hi = 1/lo and c = lo + hi the traces of the covariance Sigma are
// df1(k) = tr Sigma (Sigma + k)^-1/d = ((lo + k)(hi + k))^-1/2, and its derivative gives all others.
// docs/_ext/explorer.py has the same functions in Python; tests/docs/test_explorer.py compares both with the solvers.
"use strict";

const ExplorerChain = (() => {
  // Complex numbers are pairs [real part, imaginary part].
  const add = (x, y) => [x[0] + y[0], x[1] + y[1]];
  const sub = (x, y) => [x[0] - y[0], x[1] - y[1]];
  const mul = (x, y) => [x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]];
  const div = (x, y) => {
    const size = y[0] * y[0] + y[1] * y[1];
    return [(x[0] * y[0] + x[1] * y[1]) / size, (x[1] * y[0] - x[0] * y[1]) / size];
  };
  const times = (x, factor) => [x[0] * factor, x[1] * factor];
  const conj = (x) => [x[0], -x[1]];
  const root = (x) => { // with a positive real part
    const size = Math.hypot(x[0], x[1]);
    const real = Math.sqrt((size + Math.abs(x[0])) / 2);
    if (real === 0) return [0, 0];
    const other = x[1] / (2 * real);
    return x[0] >= 0 ? [real, other] : [Math.abs(other), x[1] < 0 ? -real : real];
  };
  const total = (terms) => terms.reduce(add, [0, 0]);

  const ends = (r) => ({ lo: (1 - r) / (1 + r), hi: (1 + r) / (1 - r), c: (1 - r) / (1 + r) + (1 + r) / (1 - r) });

  // The root in [low, high] of a function that is negative at the low end and positive at the high one.
  function bisect(f, low, high) {
    for (let step = 0; step < 200; step += 1) {
      const middle = (low + high) / 2;
      if (middle <= low || middle >= high) break;
      if (f(middle) < 0) low = middle; else high = middle;
    }
    return (low + high) / 2;
  }

  // df1, its derivative, df2, and 1 - df1 without cancellation at a small effective ridge k.
  function traces(k, r) {
    const { lo, hi, c } = ends(r);
    const df1 = 1 / Math.sqrt((lo + k) * (hi + k));
    const slope = -(c + 2 * k) / 2 * df1 ** 3;
    return { df1, slope, df2: df1 + k * slope, rest: k * (c + k) * df1 * df1 / (1 + df1) };
  }

  // lam = k (1 - df1(k)/alpha). Its root lies between lam and lam + 1/alpha, since k df1(k) < 1.
  function effectiveRidge(alpha, lam, r) {
    return bisect((k) => k * (1 - traces(k, r).df1 / alpha) - lam, lam, lam + 1 / alpha);
  }

  // Mean test and train errors of masked ridge regression that is fitted to the end.
  function errors(alpha, lam, r) {
    const k = effectiveRidge(alpha, lam, r);
    const { slope, df2, rest } = traces(k, r);
    const test = -slope * k * k / (rest * rest) / (1 - df2 / alpha);
    return { ridge: k, test, train: test * (lam / k) ** 2 };
  }

  // The part of the variance, 1, that no linear function of the other coordinates explains.
  const irreducible = (r) => (1 - r * r) / (1 + r * r);

  // All roots of a quartic k^4 + a3 k^3 + a2 k^2 + a1 k + a0 with complex coefficients, by the method of Durand and
  // Kerner.
  function quarticRoots(a3, a2, a1, a0) {
    const value = (k) => add(mul(add(mul(add(mul(add(k, a3), k), a2), k), a1), k), a0);
    const size = 1 + Math.max(...[[a3, 1], [a2, 2], [a1, 3], [a0, 4]].map(([a, n]) => Math.hypot(...a) ** (1 / n)));
    const roots = [0.3, 1.9, 3.4, 5.0].map((angle) => [size * Math.cos(angle), size * Math.sin(angle)]);
    for (let step = 0; step < 300; step += 1) {
      let moved = 0;
      for (let i = 0; i < 4; i += 1) {
        let others = [1, 0];
        for (let j = 0; j < 4; j += 1) if (j !== i) others = mul(others, sub(roots[i], roots[j]));
        const change = div(value(roots[i]), others);
        if (!Number.isFinite(change[0] + change[1])) { roots[i] = add(roots[i], [1e-9 * size, 1e-9 * size]); continue; }
        roots[i] = sub(roots[i], change);
        moved = Math.max(moved, Math.hypot(...change) / (1e-12 + Math.hypot(...roots[i])));
      }
      if (moved < 1e-14) break;
    }
    return roots;
  }

  // ((lo + k)(hi + k)) alpha^2 (k - L)^2 = k^2 is the square of the equation L = k (1 - df1(k)/alpha).
  function ridgeCandidates(alpha, L, r) {
    const { c } = ends(r);
    const square = mul(L, L);
    return quarticRoots(
      sub([c, 0], times(L, 2)),
      add(sub([1 - 1 / (alpha * alpha), 0], times(L, 2 * c)), square),
      sub(times(square, c), times(L, 2)),
      square,
    );
  }

  function complexTraces(k, r) {
    const { lo, hi, c } = ends(r);
    const df1 = div([1, 0], mul(root(add([lo, 0], k)), root(add([hi, 0], k))));
    const square = mul(df1, df1);
    const slope = times(mul(add([c, 0], times(k, 2)), mul(square, df1)), -0.5);
    const rest = div(mul(mul(k, add([c, 0], k)), square), add([1, 0], df1));
    return { df1, slope, df2: add(df1, mul(k, slope)), rest };
  }

  // The effective ridge of a complex ridge L in the upper half plane: the root there of the equation before it is squared.
  function complexRidge(alpha, L, r) {
    let best = null, least = Infinity;
    for (const k of ridgeCandidates(alpha, L, r)) {
      const gap = sub(mul(k, sub([1, 0], times(complexTraces(k, r).df1, 1 / alpha))), L);
      const size = (k[1] > 0 ? 0 : 1e6) + Math.hypot(...gap);
      if (size < least) { least = size; best = k; }
    }
    return best;
  }

  // Mean test and train errors after gradient flow up to `time`: e^(-time s) is a sum over `poles` (ridges and weights
  // of the upper half plane at time 1), so that training is a weighted sum of ridge regressions.
  function trained(alpha, lam, r, time, poles) {
    const half = poles.map(([zr, zi, wr, wi]) => {
      const L = [zr / time + lam, zi / time];
      const k = complexRidge(alpha, L, r);
      const { df1, slope, df2, rest } = complexTraces(k, r);
      return {
        L, k, w: [wr, wi],
        excess: div(mul(df1, k), rest),
        own: div(times(div(mul(slope, mul(k, k)), mul(rest, rest)), -1), sub([1, 0], times(df2, 1 / alpha))),
      };
    });
    const all = half.concat(half.map((p) => Object.fromEntries(Object.entries(p).map(([name, x]) => [name, conj(x)]))));
    const test = [], train = [];
    all.forEach((p, i) => {
      const left = [], rows = [];
      all.forEach((q, j) => {
        if (i === j) return;
        const pair = div(mul(q.w, p.w), sub(q.L, p.L));
        left.push(mul(pair, q.k));
        rows.push(mul(pair, mul(q.L, p.L)));
      });
      const own = mul(mul(p.w, p.w), p.own), share = div(p.L, p.k);
      test.push(times(mul(total(left), p.excess), 2), own);
      train.push(times(div(mul(total(rows), p.excess), p.k), 2), mul(own, mul(share, share)));
    });
    return { test: total(test)[0], train: Math.abs(total(train)[0]) };
  }

  // Outside the bulk of X'X/n an eigenvalue x and u = -k are related by x = u (1 +- 1/(alpha P^1/2)), and the ends of
  // the bulk are the extrema of x(u). Right of it u = hi + w, and w is found on a logarithmic scale.
  function right(alpha, r, w) {
    const { lo, hi, c } = ends(r);
    const u = hi + w, P = (u - lo) * w, df1 = -1 / Math.sqrt(P);
    return { u, x: u * (1 - df1 / alpha), strength: u / (1 - df1), df1, rise: alpha * P ** 1.5 - (c * u / 2 - 1) };
  }

  function edges(alpha, lam, r) {
    const { lo, hi, c } = ends(r);
    const last = right(alpha, r, Math.exp(bisect((s) => right(alpha, r, Math.exp(s)).rise, -40, 12)));
    const size = (u) => Math.max((lo - u) * (hi - u), 0);
    const u = bisect((v) => 1 - c * v / 2 - alpha * size(v) ** 1.5, -1 - 1 / alpha, lo * (1 - 1e-12));
    const first = alpha === 1 ? 0 : Math.max(u * (1 - 1 / (alpha * Math.sqrt(size(u)))), 0);
    return { low: first, high: last.x, threshold: last.strength };
  }

  // The density of X'X/n at x within its bulk, times x + lam. There the equation has one root in the upper half plane, and
  // tr (X'X/n - x)^-1/d = (1 - df1)/(-x) with df1 = alpha (1 + x/k).
  function bulkHeight(alpha, lam, r, x) {
    const k = ridgeCandidates(alpha, [-x, 0], r).reduce((one, other) => (other[1] > one[1] ? other : one));
    return alpha * Math.abs(div([1, 0], k)[1]) / Math.PI * (x + lam);
  }

  // The joint predictor has the eigenvalues a = 1 - 1/nu with nu = (1 - df1(k)) (x/lam + 1), x those of X'X/n.
  function spectrum(alpha, lam, r, points) {
    const { rest } = traces(effectiveRidge(alpha, lam, r), r);
    const nu = (x) => rest * (x / lam + 1);
    const { low, high } = edges(alpha, lam, r);
    const density = [];
    for (let i = 0; i < points; i += 1) { // points lie close together at the ends, where the density has roots
      const share = Math.sin(Math.PI * (i + 0.5) / points / 2) ** 2;
      const x = low + (low + lam) * Math.expm1(share * Math.log((high + lam) / (low + lam)));
      density.push({ a: 1 - 1 / nu(x), height: bulkHeight(alpha, lam, r, x) });
    }
    return {
      low: 1 - 1 / nu(low), high: 1 - 1 / nu(high), density,
      atom: alpha < 1 ? { a: 1 - 1 / rest, mass: 1 - alpha } : null,
    };
  }

  // A spread-out spike is an outlier at x(u) with u/(1 - df1) = strength, if that is above the value at the edge.
  function spike(alpha, lam, r, strength) {
    const { threshold, high } = edges(alpha, lam, r);
    const { rest } = traces(effectiveRidge(alpha, lam, r), r);
    const a = (x) => 1 - 1 / (rest * (x / lam + 1));
    if (strength <= threshold) return { seen: false, threshold, a: a(high), overlap: 0 };
    const at = right(alpha, r, Math.exp(bisect((s) => right(alpha, r, Math.exp(s)).strength - strength, -40, 12)));
    const { c } = ends(r), k = -at.u;
    const slope = -(c + 2 * k) / 2 * at.df1 ** 3;
    const change = 1 - (at.df1 + k * slope) / alpha; // dL/dk with L = -x
    const bent = -slope / k - (1 - at.df1) / (k * k); // of the trace (1 - df1)/k of (Sigma + k)^-1
    return { seen: true, threshold, a: a(at.x), overlap: (-k / -at.x) * change / (strength * strength * bent) };
  }

  // The height of the spectrum at one eigenvalue a, as a density of -log(1 - a).
  function height(alpha, lam, r, a) {
    const { rest } = traces(effectiveRidge(alpha, lam, r), r);
    return bulkHeight(alpha, lam, r, lam * (1 / (1 - a) / rest - 1));
  }

  // Everything that is shown at one setting of the sliders, by the names that docs/_ext/explorer.py gives it.
  function values({ alpha, lam, correlation, strength, time }, poles, places) {
    const fitted = errors(alpha, lam, correlation), flow = trained(alpha, lam, correlation, time, poles);
    const law = spectrum(alpha, lam, correlation, 0), top = spike(alpha, lam, correlation, strength);
    return {
      test: fitted.test, train: fitted.train, irreducible: irreducible(correlation),
      trained_test: flow.test, trained_train: flow.train,
      low: 1 - law.low, high: 1 - law.high,
      atom: law.atom ? 1 - law.atom.a : 0, atom_mass: law.atom ? law.atom.mass : 0,
      threshold: top.threshold, outlier: 1 - top.a, overlap: top.overlap,
      places, heights: places.map((a) => height(alpha, lam, correlation, a)),
    };
  }

  return { errors, irreducible, trained, edges, spectrum, spike, values };
})();

if (typeof module !== "undefined") module.exports = ExplorerChain;
