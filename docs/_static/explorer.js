// The page explorer.md: sliders, four pictures, numbers, and the Python call that gives them. The mathematics is in
// explorer_chain.js, the ranges of the sliders and answers of the solvers in explorer_data.js.
"use strict";

const ExplorerPage = (() => {
  const TEXTS = {
    alpha: "samples per coordinate, \u03b1 = n/d",
    lam: "ridge \u03bb",
    correlation: "correlation of neighbors, r",
    strength: "strength of the spike \u03b8",
    time: "training time t",
  };
  const STEPS = 300; // of a logarithmic slider: powers of ten are among its values
  const WIDTH = 360, HEIGHT = 240, LEFT = 46, RIGHT = 18, TOP = 10, BOTTOM = 40;

  const plain = (x) => String(Number(x.toPrecision(3)));
  const shown = (x) => (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) ? x.toExponential(3) : String(Number(x.toPrecision(4))));
  // An eigenvalue close below 1 by as many digits as tell it from 1.
  const eigenvalue = (gap) => (gap > 0.1 ? shown(1 - gap) : (1 - gap).toFixed(Math.min(12, 3 - Math.floor(Math.log10(gap)))));

  function pythonCall(at, found) {
    const { alpha, lam, correlation, strength, time } = Object.fromEntries(
      Object.entries(at).map(([name, x]) => [name, plain(x)]),
    );
    const atom = found.atom ? `, and the share ${shown(found.atom_mass)} at ${eigenvalue(found.atom)}` : "";
    const seen = found.overlap > 0 ? `outlier ${eigenvalue(found.outlier)}, overlap ${shown(found.overlap)}` : "no outlier";
    return [
      "import math",
      "from theory import masked, random_matrix",
      "from theory.models import AR1, Flow, MaskedRidge, MaskedTraining, SpikedData",
      "",
      `chain = AR1(math.inf, correlation=${correlation})`,
      `model = MaskedRidge(chain, alpha=${alpha}, lam=${lam})`,
      `training = MaskedTraining(chain, alpha=${alpha}, training=Flow(${time}), lam=${lam})`,
      `spike = SpikedData(chain, strength=${strength}, alpha=${alpha}, lam=${lam})`,
      "",
      `fitted = masked.solve(model)  # test error ${shown(found.test)}, train error ${shown(found.train)}`,
      `stopped = masked.solve(training)  # test error ${shown(found.trained_test)}`,
      `law = random_matrix.predictor_law(model)  # from ${eigenvalue(found.low)} to ${eigenvalue(found.high)}${atom}`,
      `top = random_matrix.outlier(spike)  # threshold ${shown(found.threshold)}: ${seen}`,
      "print(fitted, stopped, law, top, sep=\"\\n\")",
    ].join("\n");
  }

  // The largest relative difference between the answers of the solvers and those of this page.
  function largestDifference(data) {
    let largest = 0;
    for (const { at, values } of data.answers) {
      const found = ExplorerChain.values(at, data.poles, values.places);
      for (const [name, value] of Object.entries(values)) {
        [value].flat().forEach((one, i) => {
          const gap = Math.abs([found[name]].flat()[i] - one);
          largest = Math.max(largest, one === 0 ? gap : gap / Math.abs(one));
        });
      }
    }
    return largest;
  }

  const logarithmic = (low, high, count) => Array.from({ length: count }, (_, i) => low * (high / low) ** (i / (count - 1)));

  // A scale from values to pixels, with ticks: powers of ten, or the nicest steps.
  function scale([low, high], log, first, last) {
    const of = log ? Math.log : (x) => x;
    const to = (x) => first + (last - first) * (of(x) - of(low)) / (of(high) - of(low));
    const ticks = [];
    if (log) {
      const decades = Math.log10(high / low), factors = decades < 1.3 ? [1, 2, 5] : [1];
      const skip = Math.ceil(decades / 6);
      for (let n = Math.floor(Math.log10(low)); n <= Math.log10(high); n += 1) {
        for (const f of factors) if (n % skip === 0 && f * 10 ** n >= low * 0.999 && f * 10 ** n <= high * 1.001) ticks.push(f * 10 ** n);
      }
    } else {
      const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find((f) => f * power >= rough);
      for (let n = Math.ceil(low / step); n * step <= high * 1.0001; n += 1) ticks.push(n * step);
    }
    return { to, ticks: ticks.map((x) => [to(x), plain(x)]) };
  }

  function picture(id, { x, y, xlabel, ylabel, marks, title }) {
    const bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
    const parts = [
      `<clipPath id="${id}-clip"><rect x="${LEFT}" y="${TOP}" width="${right - LEFT}" height="${bottom - TOP}"/></clipPath>`,
      `<g clip-path="url(#${id}-clip)">${marks}</g>`,
      `<path class="frame" d="M${LEFT} ${TOP}V${bottom}H${right}"/>`,
      ...x.ticks.map(([at, text]) => `<path class="frame" d="M${at} ${bottom}v4"/><text x="${at}" y="${bottom + 16}" text-anchor="middle">${text}</text>`),
      ...y.ticks.map(([at, text]) => `<path class="frame" d="M${LEFT} ${at}h-4"/><text x="${LEFT - 6}" y="${at + 4}" text-anchor="end">${text}</text>`),
      `<text x="${(LEFT + right) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${xlabel}</text>`,
      `<text transform="translate(11 ${(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">${ylabel}</text>`,
    ];
    const element = document.getElementById(id);
    element.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    element.setAttribute("aria-label", title);
    element.innerHTML = parts.join("");
  }

  const across = (limits, log) => scale(limits, log, LEFT, WIDTH - RIGHT);
  const upward = (limits, log) => scale(limits, log, HEIGHT - BOTTOM, TOP);
  const line = (points, kind) => `<path class="line ${kind}" d="M${points.map((p) => p.map((v) => v.toFixed(2)).join(" ")).join("L")}"/>`;
  const dot = (x, y, kind) => `<circle class="${kind}" cx="${x}" cy="${y}" r="4.5"/>`;
  const upright = (x, kind) => line([[x, TOP], [x, HEIGHT - BOTTOM]], kind);
  const level = (y, kind) => line([[LEFT, y], [WIDTH - RIGHT, y]], kind);

  function drawErrors(data, at, found) {
    const { alpha, lam, correlation: r, time } = at;
    const range = data.sliders.alpha.slice(0, 2), times = data.sliders.time.slice(0, 2);
    const fitted = logarithmic(...range, 241).map((one) => [one, ExplorerChain.errors(one, lam, r)]);
    const stopped = logarithmic(...range, 81).map((one) => [one, ExplorerChain.trained(one, lam, r, time, data.poles)]);
    const along = logarithmic(...times, 81).map((one) => [one, ExplorerChain.trained(alpha, lam, r, one, data.poles)]);
    const highest = Math.max(...[...fitted, ...stopped].map(([, e]) => e.test));
    let x = across(range, true), y = upward([found.irreducible / 4, 1.25 * highest], true);
    const drawn = (of, name, kind) => line(of.map(([one, e]) => [x.to(one), y.to(Math.max(e[name], 1e-12))]), kind);
    picture("explorer-learning", {
      x, y, xlabel: "samples per coordinate \u03b1", ylabel: "mean squared error",
      title: `Learning curve: the test error is ${shown(found.test)} at \u03b1 = ${plain(alpha)}.`,
      marks: level(y.to(found.irreducible), "grey dotted") + upright(x.to(alpha), "grey thin")
        + drawn(fitted, "train", "one dashed") + drawn(stopped, "test", "two") + drawn(fitted, "test", "one")
        + dot(x.to(alpha), y.to(found.trained_test), "two") + dot(x.to(alpha), y.to(found.test), "one"),
    });
    const top = Math.max(1, found.test, ...along.map(([, e]) => e.test));
    x = across(times, true);
    y = upward([found.irreducible / 4, 1.25 * top], true);
    picture("explorer-training", {
      x, y, xlabel: "training time t", ylabel: "mean squared error",
      title: `Along training: the test error is ${shown(found.trained_test)} at the time ${plain(time)}.`,
      marks: level(y.to(found.irreducible), "grey dotted") + level(y.to(found.test), "one") + upright(x.to(time), "grey thin")
        + drawn(along, "train", "two dashed") + drawn(along, "test", "two") + dot(x.to(time), y.to(found.trained_test), "two"),
    });
  }

  // The axis is logarithmic in 1/(1 - a), so that bulks of every width show; its ticks are eigenvalues a.
  function drawSpectrum(at, found) {
    const { density } = ExplorerChain.spectrum(at.alpha, at.lam, at.correlation, 200);
    const gaps = [found.low, found.high, found.outlier, found.atom || 1, 1];
    const x = across([1 / Math.max(...gaps) / 1.5, 1.5 / Math.min(...gaps)], true);
    // At alpha = 1 the density has no bound at its left end.
    const heights = density.map((one) => one.height).sort((one, other) => one - other);
    const y = upward([0, 1.12 * Math.min(heights[heights.length - 1], 3 * heights[heights.length >> 1])], false);
    const floor = HEIGHT - BOTTOM, points = density.map((one) => [x.to(1 / (1 - one.a)), y.to(one.height)]);
    const closed = [[x.to(1 / found.low), floor], ...points, [x.to(1 / found.high), floor]];
    const places = [-9999, -999, -99, -9, -3, -1, 0, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
    let last = -Infinity;
    x.ticks = places.map((a) => [x.to(1 / (1 - a)), String(a).replace("-", "\u2212")]).filter(([p, text]) => {
      const half = 4 * text.length;
      if (p < LEFT || p > WIDTH - RIGHT || p - half < last + 4) return false;
      last = p + half;
      return true;
    });
    const marks = [line(closed, "area"), line(closed, "one")];
    if (found.atom) {
      const place = x.to(1 / found.atom);
      marks.push(upright(place, "one"), `<text x="${place + 5}" y="${TOP + 12}">share ${plain(found.atom_mass)}</text>`);
    }
    if (found.overlap > 0) {
      const place = x.to(1 / found.outlier);
      marks.push(line([[place, floor], [place, TOP + 24]], "two"), dot(place, TOP + 24, "two"));
    }
    const seen = found.overlap > 0 ? `an outlier at ${eigenvalue(found.outlier)}` : "no outlier";
    picture("explorer-spectrum", {
      x, y, xlabel: "eigenvalue a of the joint predictor", ylabel: "density of \u2212log(1 \u2212 a)",
      title: `Spectrum from ${eigenvalue(found.low)} to ${eigenvalue(found.high)}, ${seen}.`, marks: marks.join(""),
    });
    document.getElementById("explorer-seen").textContent = found.overlap > 0
      ? `The spike is seen: orange, its eigenvalue ${eigenvalue(found.outlier)} outside the bulk.`
      : "The spike is not seen: its strength is below the threshold.";
  }

  function drawThreshold(data, at, found) {
    const range = data.sliders.alpha.slice(0, 2), strengths = data.sliders.strength.slice(0, 2);
    const x = across(range, true), y = upward(strengths, true);
    const points = logarithmic(...range, 121).map((alpha) => [x.to(alpha), y.to(ExplorerChain.edges(alpha, at.lam, at.correlation).threshold)]);
    const kind = found.overlap > 0 ? "two" : "one";
    picture("explorer-threshold", {
      x, y, xlabel: "samples per coordinate \u03b1", ylabel: "strength of the spike \u03b8",
      title: `Threshold ${shown(found.threshold)} at \u03b1 = ${plain(at.alpha)}; the strength is ${plain(at.strength)}.`,
      marks: line([[LEFT, TOP], ...points, [WIDTH - RIGHT, TOP]], "area") + line(points, "one") + upright(x.to(at.alpha), "grey thin")
        + dot(x.to(at.alpha), y.to(at.strength), kind) + `<text x="${WIDTH - RIGHT - 4}" y="${TOP + 14}" text-anchor="end">seen</text>`
        + `<text x="${LEFT + 8}" y="${HEIGHT - BOTTOM - 8}">not seen</text>`,
    });
  }

  function tell(at, found) {
    const rows = [
      ["test error of the fit", shown(found.test)], ["its train error", shown(found.train)],
      ["test error at the time t", shown(found.trained_test)], ["its train error", shown(found.trained_train)],
      ["error that no predictor avoids", shown(found.irreducible)],
      ["ends of the bulk", `${eigenvalue(found.low)} and ${eigenvalue(found.high)}`],
      ...(found.atom ? [["eigenvalues outside the bulk", `the share ${shown(found.atom_mass)} at ${eigenvalue(found.atom)}`]] : []),
      ["threshold of the spike", shown(found.threshold)],
      ["outlier", found.overlap > 0 ? eigenvalue(found.outlier) : "none"],
      ["squared overlap of its eigenvector with the spike", shown(found.overlap)],
    ];
    document.getElementById("explorer-numbers").innerHTML = rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`).join("");
    document.getElementById("explorer-call").textContent = pythonCall(at, found);
  }

  function start(data) {
    const inputs = {}, box = document.getElementById("explorer-sliders");
    for (const [name, [low, high, , log]] of Object.entries(data.sliders)) {
      const row = document.createElement("div");
      row.className = "slider";
      row.innerHTML = `<label for="explorer-${name}">${TEXTS[name]}</label><output for="explorer-${name}" aria-live="off"></output>`
        + `<input type="range" id="explorer-${name}" min="${log ? 0 : low}" max="${log ? STEPS : high}" step="${log ? 1 : 0.01}">`;
      box.append(row);
      inputs[name] = row.querySelector("input");
      inputs[name].addEventListener("input", later);
    }
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "Begin again";
    reset.addEventListener("click", () => { begin(); later(); });
    box.append(reset);

    function begin() {
      for (const [name, [low, high, first, log]] of Object.entries(data.sliders)) {
        inputs[name].value = log ? Math.round(STEPS * Math.log(first / low) / Math.log(high / low)) : first;
      }
    }

    function setting() {
      return Object.fromEntries(Object.entries(data.sliders).map(([name, [low, high, , log]]) => {
        const place = Number(inputs[name].value);
        return [name, Number(plain(log ? low * (high / low) ** (place / STEPS) : place))];
      }));
    }

    let waiting = false;
    function later() {
      if (!waiting) requestAnimationFrame(draw);
      waiting = true;
    }

    function draw() {
      waiting = false;
      const at = setting(), found = ExplorerChain.values(at, data.poles, []);
      for (const [name, value] of Object.entries(at)) {
        document.querySelector(`output[for="explorer-${name}"]`).textContent = plain(value);
        inputs[name].setAttribute("aria-valuetext", plain(value));
      }
      drawErrors(data, at, found);
      drawSpectrum(at, found);
      drawThreshold(data, at, found);
      tell(at, found);
    }

    begin();
    draw();
    const text = `Just now this page computed again what the Python solvers answered at ${data.answers.length} settings: `
      + `the largest relative difference is ${largestDifference(data).toExponential(0)}.`;
    document.getElementById("explorer-check").textContent = text;
  }

  return { pythonCall, largestDifference, start };
})();

if (typeof module !== "undefined") module.exports = ExplorerPage;
else if (document.getElementById("explorer")) ExplorerPage.start(ExplorerData);
