/* The report: a curve that tells the numbers of its bins, a choice of labels, and bin sizes. */

(() => {
  const D = data("data");
  const at4 = value => (value === null ? "unknown" : value.toFixed(4).replace(/^0(?=\.)/, "0"));
  const share = value => `${(100 * value).toFixed(1)} %`;
  const curveBox = document.querySelector("#curve .picture");
  const sizeBox = document.querySelector("#bin-size .picture");
  let chosen = 0, odds = false;

  /* Where a share stands between 0 and 1: as it is, or by its log-odds, which stretch both ends. */
  function scale({bins}) {
    if (!odds) return {of: v => v, marks: [0, 0.2, 0.4, 0.6, 0.8, 1], text: v => v.toFixed(1)};
    const inner = [...bins.predicted, ...bins.true, ...bins.low, ...bins.high].filter(v => v > 0 && v < 1);
    const least = Math.min(0.1, ...inner.map(v => Math.min(v, 1 - v)));
    const edge = Math.max(10 ** Math.floor(Math.log10(least)), 1e-6);
    const logit = v => Math.log(v / (1 - v)), end = -logit(edge);
    const small = [];
    for (let v = 0.1; v > edge * 0.99; v /= 10) small.push(v);
    const step = Math.ceil(small.length / 3);
    const kept = small.filter((_, i) => i % step === 0);
    const text = v => (v <= 0.5 ? String(Number(v.toPrecision(1))) : String(Number((1 - Number((1 - v).toPrecision(1))).toFixed(7))));
    return {
      of: v => Math.min(1, Math.max(0, (logit(Math.min(Math.max(v, 1e-300), 1 - 1e-16)) / end + 1) / 2)),
      marks: [...[...kept].reverse(), 0.5, ...kept.map(v => 1 - v)], text,
    };
  }

  function drawCurve() {
    const {bins, histogram, oddsHistogram, n} = D.curves[chosen];
    const {of, marks, text} = scale(D.curves[chosen]);
    const width = Math.max(280, Math.min(curveBox.clientWidth, 560));
    const left = 50, right = 10, top = 22;
    const side = width - left - right, floor = top + side, low = floor + 44, tall = 52;
    const height = low + tall + 34;
    const x = v => left + of(v) * side, y = v => floor - of(v) * side;
    const svg = draw("svg", {class: "plot", viewBox: `0 0 ${width} ${height}`, width, height});
    const plot = {svg, left, right: width - right, floor, top, width, height};
    for (const v of [...(odds ? [0, 1] : []), ...marks]) {
      svg.append(
        draw("line", {class: v ? "grid" : "axis", x1: left, x2: x(1), y1: y(v), y2: y(v)}),
        draw("line", {class: v ? "grid" : "axis", x1: x(v), x2: x(v), y1: top, y2: floor}),
        marks.includes(v) ? draw("text", {x: left - 6, y: y(v) + 4, "text-anchor": "end"}, text(v)) : "",
        marks.includes(v) ? draw("text", {x: x(v), y: floor + 16, "text-anchor": "middle"}, text(v)) : "");
    }
    svg.append(
      draw("text", {x: 0, y: 12}, "share that came true"),
      draw("text", {x: x(1), y: floor + 32, "text-anchor": "end"}, "what the model says"));
    const places = bins.predicted.map((v, i) => [v, bins.true[i]]);
    const path = points => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
    const upper = bins.predicted.map((v, i) => [v, bins.bandHigh[i]]);
    const lower = bins.predicted.map((v, i) => [v, bins.bandLow[i]]).reverse();
    if (places.length > 1) svg.append(draw("path", {class: "band", d: `${path([...upper, ...lower])}Z`}));
    else if (places.length) svg.append(draw("line", {class: "band", x1: x(places[0][0]), x2: x(places[0][0]), y1: y(bins.bandLow[0]), y2: y(bins.bandHigh[0]), stroke: "currentColor", "stroke-width": 8}));
    svg.append(draw("line", {class: "ideal", x1: x(0), y1: y(0), x2: x(1), y2: y(1)}),
      draw("path", {class: "line", d: path(places)}));
    const points = places.map(([a, b], i) => {
      svg.append(draw("line", {class: "interval", x1: x(a), x2: x(a), y1: y(bins.low[i]), y2: y(bins.high[i])}));
      return draw("circle", {class: "point", cx: x(a), cy: y(b), r: 4});
    });
    svg.append(...points);
    const cells = odds ? oddsHistogram : histogram, most = Math.max(...cells, 1e-12);
    cells.forEach((count, i) => {
      if (!count) return;
      const h = Math.max(tall * count / most, 1);
      const ends = odds ? [D.oddsEdges[i], D.oddsEdges[i + 1]] : [i / cells.length, (i + 1) / cells.length];
      const [from, to] = ends.map(x);
      svg.append(draw("rect", {class: "bar", x: from + 0.5, width: Math.max(to - from - 1, 1), y: low + tall - h, height: h}));
    });
    svg.append(draw("line", {class: "axis", x1: left, x2: x(1), y1: low + tall, y2: low + tall}),
      draw("text", {x: x(1), y: low + tall + 16, "text-anchor": "end"}, `${plural(n, "prediction")}`.replace("predictions", "predictions, by what they say")));
    const tell = i => {
      const gap = bins.predicted[i] - bins.true[i];
      points.forEach((point, j) => point.classList.toggle("on", i === j));
      return [`says ${share(bins.predicted[i])} (${share(bins.from[i])} to ${share(bins.to[i])})`,
        `came true ${share(bins.true[i])}, ${D.level} interval ${share(bins.low[i])} to ${share(bins.high[i])}`,
        `too ${gap >= 0 ? "high" : "low"} by ${share(Math.abs(gap))}`,
        `if calibrated ${share(bins.bandLow[i])} to ${share(bins.bandHigh[i])}`,
        `bin ${i + 1} of ${places.length}, ${bins.count[i] === 1 ? "1 query" : `${whole(bins.count[i])} queries`}`].join("\n");
    };
    const edge = i => (i <= 0 ? left : i >= places.length ? x(1) : (x(bins.predicted[i - 1]) + x(bins.predicted[i])) / 2);
    reachable(plot, places.length, {
      at: i => [edge(i), edge(i + 1)], tell,
      name: `Calibration curve of ${D.curves[chosen].name}, ${places.length} bins. Arrow keys move between bins.`,
    });
    curveBox.replaceChildren(choice(), svg);
  }
  function choice() {
    const stretch = make("label", {}, make("input", {type: "checkbox", id: "odds", checked: odds, onchange: event => {
      odds = event.target.checked;
      drawCurve();
      document.getElementById("odds").focus();
    }}), " stretch both ends (log-odds)");
    if (D.curves.length === 1) return make("div", {class: "where"}, stretch);
    return make("div", {class: "where"}, make("label", {}, "Label ", make("select", {
      id: "label", onchange: event => { choose(Number(event.target.value)); document.getElementById("label").focus(); },
    }, D.curves.map((curve, i) => make("option", {value: i, selected: i === chosen}, curve.name)))), stretch);
  }
  function choose(i) {
    chosen = i;
    drawCurve();
    document.querySelectorAll("#labels button").forEach((button, j) => button.setAttribute("aria-pressed", String(j + 1 === i)));
  }
  document.querySelectorAll("#labels td.label").forEach((cell, i) => {
    if (i + 1 >= D.curves.length) return;
    const button = make("button", {type: "button", "aria-pressed": "false", onclick: () => {
      choose(chosen === i + 1 ? 0 : i + 1);
      document.getElementById("curve").scrollIntoView({block: "nearest"});
      say(`The curve shows ${D.curves[chosen].name}`);
    }});
    button.append(...cell.childNodes);
    cell.replaceChildren(button);
  });

  function drawSizes() {
    const s = D.sizes, n = s.size.length;
    const width = Math.max(280, Math.min(sizeBox.clientWidth, 640));
    const most = Math.max(...s.error.map(v => v || 0), ...s.nullHigh.map(v => v || 0), ...s.debiased.map(v => v || 0), 1e-6);
    const plot = frame({width, height: 270, top: 22, bottom: 42, right: 12, label: "calibration error",
      yTicks: ticks(most, 4), yText: v => String(Number(v.toPrecision(3)))});
    const {svg, y} = plot;
    const from = Math.log10(s.size[0]), to = Math.log10(s.size[n - 1]);
    const x = v => plot.left + 8 + (to > from ? (Math.log10(v) - from) / (to - from) : 0.5) * (plot.right - plot.left - 16);
    let last = -Infinity;
    for (let power = Math.floor(from); power <= Math.ceil(to); power++) {
      for (const m of [1, 2, 5]) {
        const v = m * 10 ** power;
        if (v < s.size[0] * 0.999 || v > s.size[n - 1] * 1.001) continue;
        const place = x(v), label = whole(Math.round(v)), half = label.length * 3.5;
        svg.append(draw("line", {class: "axis", x1: place, x2: place, y1: plot.floor, y2: plot.floor + 4}));
        if (place - half < last + 6 || place + half > plot.right + 12) continue;
        last = place + half;
        svg.append(draw("text", {x: place, y: plot.floor + 17, "text-anchor": "middle"}, label));
      }
    }
    svg.append(draw("text", {x: plot.right, y: plot.floor + 34, "text-anchor": "end"}, "queries per bin"));
    const line = values => values.map((v, i) => [s.size[i], v]).filter(([, v]) => v !== null)
      .map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
    const back = s.size.map((v, i) => `L${x(v).toFixed(1)} ${y(s.nullLow[i]).toFixed(1)}`).reverse().join("");
    svg.append(
      draw("path", {class: "plug-band", d: `${line(s.nullHigh)}${back}Z`}),
      draw("line", {class: "selected", x1: x(s.selected), x2: x(s.selected), y1: plot.top, y2: plot.floor}),
      draw("path", {class: "plug", d: line(s.error)}), draw("path", {class: "debiased", d: line(s.debiased)}));
    reachable(plot, n, {
      at: i => [i ? (x(s.size[i - 1]) + x(s.size[i])) / 2 : plot.left, i + 1 < n ? (x(s.size[i]) + x(s.size[i + 1])) / 2 : plot.right],
      tell: i => [`${whole(Math.round(s.size[i]))} queries per bin, ${plural(s.bins[i], "bin")}`,
        `plug-in error ${at4(s.error[i])}`, `debiased error ${at4(s.debiased[i])}`,
        `plug-in error if calibrated ${at4(s.nullLow[i])} to ${at4(s.nullHigh[i])}`].join("\n"),
      name: `Calibration error by bin size, ${n} sizes. Arrow keys move between sizes.`,
    });
    const sign = (shape, text) => make("span", {style: "display:inline-flex;gap:.4rem;align-items:center"},
      draw("svg", {class: "plot", width: 18, height: 14, style: "width:18px"}, shape), text);
    sizeBox.replaceChildren(make("div", {class: "where soft"},
      sign(draw("path", {class: "plug", d: "M1 7H17"}), "plug-in error"),
      sign(draw("rect", {class: "plug-band", x: 1, y: 1, width: 16, height: 12}), `the same if calibrated, ${D.level}`),
      sign(draw("path", {class: "debiased", d: "M1 7H17"}), "debiased error"),
      sign(draw("path", {class: "selected", d: "M9 0V14"}), `suggested size ${whole(Math.round(s.selected))}`)), svg);
  }

  const redraw = () => { drawCurve(); drawSizes(); };
  redraw();
  let width = curveBox.clientWidth;
  new ResizeObserver(() => {
    if (curveBox.clientWidth !== width) { width = curveBox.clientWidth; redraw(); }
  }).observe(curveBox);
  document.documentElement.dataset.ready = "true";
})();
