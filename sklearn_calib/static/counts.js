/* The page of counts: series, the documents behind a count, a text, and answers. */

(() => {
  const D = data("data");
  const docs = D.documents, rows = D.rows, plan = D.plan;
  const total = D.grains[D.grains.length - 1];
  const hasTotal = D.grains.length > 1;
  const hasText = new Set(D.texts);
  const wasRead = new Set(docs.read || []);
  const FIRST_KEYS = 6, PAGE = 50;
  const state = {
    grain: 0, corrected: Boolean(D.grains[0].corrected), keys: new Set(), same: true, share: false,
    key: 0, period: null, uncertain: false, shown: PAGE, document: null, from: null,
  };
  D.keys.forEach((_, i) => { if (i < FIRST_KEYS) state.keys.add(i); });

  const grain = () => D.grains[state.grain];
  const series = g => (state.corrected && g.corrected ? g.corrected : g.plain);
  const interval = (s, k, i) => (s.low[k][i] === null
    ? "no interval" : `${amount(s.low[k][i])} to ${amount(s.high[k][i])}`);
  const unit = D.several ? "occurrences" : docs.weight ? "weighted documents" : "documents";
  /* Shares are of all documents of a period, where each counts at most once. */
  const canShare = !D.several && !docs.weight;
  const share = v => `${amount(100 * v)} %`.replace(".00", "");
  function shown(g, s) {
    if (!state.share) return s;
    const divide = rows => rows.map(row => row.map((v, i) => (v === null || !g.documents[i] ? null : v / g.documents[i])));
    return {mean: divide(s.mean), low: divide(s.low), high: divide(s.high), best: s.best && divide(s.best)};
  }
  const per = () => (grain().kind === "all" ? "" : ` per ${grain().kind}`);

  /* --- choices */

  const root = document.getElementById("explorer");
  const panels = make("div", {class: "panels"});
  const legend = make("div", {class: "key"});
  const table = make("details", {}, make("summary", {}, "The same numbers as a table"));
  const list = make("section", {id: "list", "aria-label": "Documents of a period"});
  const reader = make("section", {id: "document", "aria-label": "A document"});
  const reading = make("section", {id: "plan", "aria-label": "Documents to read"});

  function radio(name, label, options, chosen, act) {
    return make("fieldset", {}, make("legend", {}, label), make("div", {class: "choices"},
      options.map(([value, text]) => make("label", {},
        make("input", {type: "radio", name, value, checked: value === chosen, onchange: () => act(value)}),
        text))));
  }
  function keyChoice() {
    const boxes = D.keys.map((key, i) => make("label", {"data-key": i},
      make("input", {
        type: "checkbox", checked: state.keys.has(i), onchange: event => {
          if (event.target.checked) state.keys.add(i); else state.keys.delete(i);
          drawPanels();
        },
      }), own(key), make("span", {class: "soft sum"})));
    const set = on => {
      for (const box of boxes) {
        if (box.hidden) continue;
        box.firstChild.checked = on;
        if (on) state.keys.add(Number(box.dataset.key)); else state.keys.delete(Number(box.dataset.key));
      }
      drawPanels();
    };
    const many = D.keys.length > 12;
    const tools = D.keys.length < 3 ? null : make("div", {class: "where"},
      many ? make("label", {}, "Find ", make("input", {
        type: "search", oninput: event => {
          const wanted = event.target.value.toLowerCase();
          boxes.forEach((box, i) => { box.hidden = !D.keys[i].toLowerCase().includes(wanted); });
        },
      })) : null,
      make("button", {type: "button", onclick: () => set(true)}, "All"),
      make("button", {type: "button", onclick: () => set(false)}, "None"));
    return make("fieldset", {class: "keys"},
      make("legend", {}, "Keys, with their expected total"),
      make("div", {class: `choices${many ? " many" : ""}`}, boxes), tools);
  }
  const shareChoice = () => make("label", {}, make("input", {
    type: "checkbox", id: "share", onchange: event => { state.share = event.target.checked; drawPanels(); },
  }), "share of all documents");
  const kinds = {all: "all together"};
  const controls = make("form", {class: "controls", onsubmit: event => event.preventDefault()},
    keyChoice(),
    D.grains.length > 1 ? radio("grain", "Period", D.grains.map((g, i) => [String(i), kinds[g.kind] || g.kind]),
      "0", value => { state.grain = Number(value); state.period = null; redraw(); }) : null,
    D.grains[0].corrected ? radio("counts", "Counts",
      [["corrected", "corrected by reading"], ["plain", "plain, given the model"]], "corrected",
      value => { state.corrected = value === "corrected"; redraw(); }) : null,
    D.keys.length > 1 ? make("fieldset", {}, make("legend", {}, "Scale"), make("div", {class: "choices"},
      make("label", {}, make("input", {
        type: "checkbox", checked: true,
        onchange: event => { state.same = event.target.checked; drawPanels(); },
      }), "the same in all panels"), canShare ? shareChoice() : null)) : canShare ? make("fieldset", {},
      make("legend", {}, "Scale"), make("div", {class: "choices"}, shareChoice())) : null);

  /* --- series */

  function drawLegend() {
    const g = grain().plain, color = state.corrected ? " corrected" : "";
    const sign = (...shapes) => draw("svg", {class: "plot", width: 18, height: 18, style: "width:18px"}, shapes);
    legend.replaceChildren(
      make("span", {}, sign(draw("rect", {class: `interval${color}`, x: 4, y: 1, width: 10, height: 16})),
        `${D.level} interval, ${state.corrected ? D.correctedCondition : D.condition}`),
      make("span", {}, sign(draw("line", {class: `mean${color}`, x1: 2, x2: 16, y1: 9, y2: 9})), "expected count"),
      g.best ? make("span", {}, sign(draw("circle", {class: "best", cx: 9, cy: 9, r: 3.5})),
        "count of the single best analysis") : "",
      state.corrected ? make("span", {}, sign(draw("rect", {class: "behind", x: 2.5, y: 1.5, width: 13, height: 15})),
        `plain interval, ${D.condition}`) : "");
  }

  function xLabels(g, plot, place) {
    const room = Math.max(2, Math.floor((plot.right - plot.left) / 64));
    let at = g.labels.map((_, i) => i), text = i => g.labels[i];
    if (g.starts) {
      const years = at.filter(i => g.starts[i].slice(5, 7) === "01"
        && (i === 0 || g.starts[i - 1].slice(0, 4) !== g.starts[i].slice(0, 4)));
      if (years.length > 1) { at = years; text = i => g.starts[i].slice(0, 4); }
    }
    const step = Math.ceil(at.length / room);
    let last = -Infinity;
    for (const i of at.filter((_, j) => j % step === 0)) {
      const [from, to] = place(i);
      const years = text(i) !== g.labels[i];
      const x = years ? from : (from + to) / 2;
      let label = text(i);
      const fits = Math.floor((plot.right - plot.left) / Math.min(room, at.length) / 6.6);
      if (label.length > fits) label = `${label.slice(0, Math.max(1, fits - 1))}…`;
      const half = label.length * 3.4;
      const middle = Math.min(Math.max(x, plot.left + (years ? 0 : half / 2)), plot.right - half);
      if (middle - half < last + 4) continue;
      last = middle + half;
      plot.svg.append(
        draw("line", {class: "axis", x1: x, x2: x, y1: plot.floor, y2: plot.floor + 4}),
        draw("text", {x: middle, y: plot.floor + 17, "text-anchor": "middle"}, label));
    }
  }

  function describe(k, i) {
    const g = grain(), s = series(g);
    const lines = [`${D.keys[k]}, ${kinds[g.kind] && g.labels[i] === "all" ? "all together" : g.labels[i]}`,
      `expected ${amount(s.mean[k][i])}, ${D.level} interval ${interval(s, k, i)}`];
    if (state.corrected && g.corrected) {
      lines.push(`plain ${amount(g.plain.mean[k][i])}, ${interval(g.plain, k, i)}`);
    }
    if (g.plain.best) lines.push(`single best analysis ${amount(g.plain.best[k][i])}`);
    const part = canShare && g.documents[i] ? `, a share of ${share(s.mean[k][i] / g.documents[i])}` : "";
    lines.push(`of ${plural(g.documents[i], "document")} in all${part}`);
    return lines.join("\n");
  }

  const tops = (g, k) => [shown(g, series(g)), shown(g, g.plain)].flatMap(s => [s.high[k], s.mean[k], s.best ? s.best[k] : []])
    .flat().reduce((a, b) => Math.max(a, b || 0), 0);

  function panel(k, width, most, n) {
    const g = grain(), s = shown(g, series(g)), color = state.corrected && g.corrected ? " corrected" : "";
    const plain = color ? shown(g, g.plain) : s, best = shown(g, g.plain).best;
    const yTicks = state.share ? ticks(most || 0.01, n === 1 ? 5 : 4) : ticks(Math.max(most, 1), n === 1 ? 5 : 4, 1);
    const label = state.share ? `share of documents${per()}` : `${unit}${per()}`;
    const plot = frame({width, height: n === 1 ? 300 : 200, top: 22, label, yTicks, yText: state.share ? share : amount});
    const {svg, y} = plot, size = g.labels.length;
    const slot = (plot.right - plot.left) / size;
    const place = i => [plot.left + i * slot, plot.left + (i + 1) * slot];
    const bar = Math.min(slot * 0.62, 26);
    const middle = i => plot.left + (i + 0.5) * slot;
    const known = (t, i) => t.low[k][i] !== null;
    const span = (t, i) => ({y: y(t.high[k][i]), height: Math.max(y(t.low[k][i]) - y(t.high[k][i]), 1)});
    if (slot >= 5) {
      for (let i = 0; i < size; i++) {
        if (s.mean[k][i] === null) continue;
        const x = middle(i), at = y(s.mean[k][i]);
        if (color && known(plain, i)) {
          svg.append(draw("rect", {class: "behind", x: x - bar / 2 - 2, width: bar + 4, ...span(plain, i)}));
        }
        if (known(s, i)) svg.append(draw("rect", {class: `interval${color}`, x: x - bar / 2, width: bar, ...span(s, i)}));
        svg.append(draw("line", {class: `mean${color}`, x1: x - bar / 2 - 1, x2: x + bar / 2 + 1, y1: at, y2: at}));
        if (best) {
          svg.append(draw("circle", {class: "best", cx: x, cy: y(best[k][i]), r: Math.min(3.4, 1.2 + bar / 5)}));
        }
      }
    } else {
      /* Periods without documents have no share, and are left out of the line. */
      const at = g.labels.map((_, i) => i).filter(i => s.mean[k][i] !== null);
      const point = (values, i) => `${middle(i).toFixed(1)} ${y(values[i]).toFixed(1)}`;
      const line = values => at.map((i, j) => `${j ? "L" : "M"}${point(values, i)}`).join("");
      const band = t => `${line(t.high[k])}${[...at].reverse().map(i => `L${point(t.low[k], i)}`).join("")}Z`;
      const whole = t => at.length && at.every(i => known(t, i));
      if (color && whole(plain)) svg.append(draw("path", {class: "behind", d: band(plain)}));
      if (whole(s)) svg.append(draw("path", {class: `interval${color}`, d: band(s)}));
      svg.append(draw("path", {class: `mean${color}`, "stroke-width": 1.5, d: line(s.mean[k])}));
      if (best) svg.append(draw("path", {class: "best", d: line(best[k])}));
    }
    xLabels(g, plot, place);
    if (state.key === k && state.period !== null) {
      const [from, to] = place(state.period);
      svg.append(draw("rect", {class: "chosen", x: from, width: Math.max(to - from, 2), y: plot.floor + 1, height: 3}));
    }
    const busiest = s.mean[k].reduce((top, v, i) => (v > s.mean[k][top] ? i : top), 0);
    reachable(plot, size, {
      at: place, tell: i => describe(k, i), start: state.key === k && state.period !== null ? state.period : busiest,
      name: `${D.keys[k]}: ${unit}${per()}. Arrow keys move between periods, Enter lists documents.`,
      choose: i => { state.from = k; openPeriod(k, i); },
    });
    const all = series(total);
    const sum = hasTotal || total.labels.length === 1
      ? `${amount(all.mean[k][0])} in all, ${interval(all, k, 0)}` : "";
    return make("figure", {class: "panel", "data-key": k},
      make("h3", {}, own(D.keys[k]), make("span", {class: "soft"}, sum)), svg);
  }

  function drawPanels() {
    controls.querySelectorAll(".sum").forEach((node, k) => {
      node.textContent = amount(series(total).mean[k].reduce((a, b) => a + b));
    });
    const chosen = [...state.keys].sort((a, b) => a - b), g = grain();
    const active = document.activeElement && document.activeElement.closest
      ? document.activeElement.closest(".panel") : null;
    const again = active ? active.dataset.key : null;
    const room = panels.clientWidth || root.clientWidth;
    /* As many columns as fit, and no more than fill the rows evenly. */
    const fit = Math.max(1, Math.min(chosen.length, Math.floor((room + 25.6) / (330 + 25.6))));
    const columns = Math.ceil(chosen.length / Math.ceil(chosen.length / fit)) || 1;
    panels.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    const width = Math.max(260, Math.floor((room - (columns - 1) * 25.6) / columns));
    const most = Math.max(0, ...chosen.map(k => tops(g, k)));
    panels.replaceChildren(...chosen.map(k => panel(k, width, state.same ? most : tops(g, k), chosen.length)));
    if (!chosen.length) panels.append(make("p", {class: "soft"}, "Choose a key to see its counts."));
    if (again !== null) {
      const svg = panels.querySelector(`[data-key="${again}"] svg`);
      if (svg) svg.focus({preventScroll: true});
    }
    drawLegend();
    if (table.open) drawTable();
  }

  function drawTable() {
    const g = grain(), s = series(g), best = Boolean(g.plain.best);
    const head = ["expected", "from", "to", ...(best ? ["best"] : []), "documents"];
    const body = [];
    for (const k of [...state.keys].sort((a, b) => a - b)) {
      g.labels.forEach((label, i) => body.push(make("tr", {}, make("td", {}, own(D.keys[k])), make("td", {}, label),
        [s.mean[k][i], s.low[k][i], s.high[k][i], ...(best ? [g.plain.best[k][i]] : []), g.documents[i]]
          .map(v => make("td", {class: "number"}, amount(v))))));
    }
    const old = table.querySelector(".scroll");
    if (old) old.remove();
    table.append(make("div", {class: "scroll"}, make("table", {},
      make("thead", {}, make("tr", {}, make("th", {}, "key"), make("th", {}, g.kind),
        head.map(name => make("th", {class: "number"}, name)))),
      make("tbody", {}, body.slice(0, 5000)))));
  }
  table.addEventListener("toggle", () => { if (table.open) drawTable(); });

  /* --- the documents of a count */

  const probability = r => (state.corrected && rows.correctedProbability ? rows.correctedProbability : rows.probability)[r];
  const deviation = r => (state.corrected && rows.correctedDeviation ? rows.correctedDeviation : rows.deviation)[r];
  const expected = r => (state.corrected && rows.correctedMean ? rows.correctedMean : rows.mean || rows.probability)[r];
  let byKey = null;
  function rowsOf(k, period) {
    if (!byKey) {
      byKey = D.keys.map(() => []);
      rows.key.forEach((key, r) => byKey[key].push(r));
    }
    const of = grain().of;
    const found = byKey[k].filter(r => of[docs.period[rows.document[r]]] === period
      && (state.corrected || probability(r) > 0 || (rows.best && rows.best[r])));
    const value = state.uncertain ? deviation : D.several ? expected : probability;
    return found.sort((a, b) => value(b) - value(a) || probability(b) - probability(a));
  }
  function restOf(k, period) {
    const of = grain().of;
    return D.rest.filter(([p, key]) => key === k && of[p] === period)
      .reduce(([n, sum], [, , m, adds]) => [n + m, sum + adds], [0, 0]);
  }
  const titleOf = d => docs.title[d] || docs.id[d];
  function measure(r) {
    const p = probability(r);
    const text = D.several ? `${amount(expected(r))} ± ${amount(deviation(r))}` : chance(p);
    return make("span", {class: "measure"},
      make("span", {class: "bar"}, make("i", {style: `width:${(100 * p).toFixed(1)}%`})),
      D.several ? text : `${text} ± ${chance(deviation(r))}`);
  }
  function entry(d, side, tags) {
    const sub = [docs.title[d] ? docs.id[d] : null, D.grains[0].labels[docs.period[d]]].filter(Boolean).join(" · ");
    const marks = [...tags];
    if (docs.weight && docs.weight[d] !== 1) marks.push(`counts ${amount(docs.weight[d])}`);
    if (wasRead.has(d)) marks.push("read");
    return make("li", {}, make("button", {
      type: "button", "data-document": d, "aria-current": state.document === d ? "true" : null,
      onclick: () => openDocument(d, true),
    }, make("span", {}, make("span", {class: "title"}, own(titleOf(d))), " ",
      make("span", {class: "sub"}, own(sub), ...marks.map(mark => [" ", make("span", {class: "tag"}, mark)]).flat())),
    side));
  }

  function openPeriod(k, i) {
    Object.assign(state, {key: k, period: i, shown: PAGE});
    drawPanels();
    drawList();
    const head = list.querySelector("h2");
    head.focus();
    list.scrollIntoView({block: "start"});
  }

  function drawList() {
    list.classList.toggle("corrected-mode", state.corrected);
    if (state.period === null) {
      list.replaceChildren(make("h2", {tabindex: "-1"}, "Documents"),
        make("p", {class: "soft"}, "Choose a period in a picture above, with a click or with Enter, to see its documents."));
      return;
    }
    const g = grain(), k = state.key, i = state.period;
    const found = rowsOf(k, i), [left, adds] = restOf(k, i);
    const label = g.labels[i] === "all" ? "all periods" : g.labels[i];
    const choose = (name, options, value, act) => make("label", {}, `${name} `, make("select", {
      onchange: event => act(Number(event.target.value)),
    }, options.map((text, at) => make("option", {value: at, selected: at === value}, text))));
    const redo = () => { state.shown = PAGE; drawPanels(); drawList(); };
    const more = found.length - state.shown;
    const others = g.documents[i] - found.length - left;
    const s = series(g);
    list.replaceChildren(
      make("h2", {tabindex: "-1"}, own(D.keys[k]), `, ${label}: ${plural(found.length + left, "document")} that may count`),
      make("p", {class: "soft"}, describe(k, i).split("\n").slice(1).join("; ") + "."),
      make("div", {class: "where"},
        choose("Key", D.keys, k, at => { state.key = at; redo(); }),
        choose("Period", g.labels, i, at => { state.period = at; redo(); })),
      radio("sort", "Order", [["p", D.several ? "most occurrences first" : "most probable first"], ["sd", "least certain first"]],
        state.uncertain ? "sd" : "p", value => { state.uncertain = value === "sd"; state.shown = PAGE; drawList();
          list.querySelector("input:checked").focus(); }),
      make("p", {class: "soft"}, D.several ? "Occurrences ± standard deviation"
        : `Probability that the document counts for `, D.several ? "" : own(D.keys[k]), D.several ? "" : " ± standard deviation"),
      make("ol", {class: "documents"}, found.slice(0, state.shown).map(r => {
        const tags = [];
        if (rows.best && rows.best[r]) tags.push("best analysis");
        if (inPlan.has(rows.document[r])) tags.push("in the plan");
        return entry(rows.document[r], measure(r), tags);
      })),
      more > 0 ? make("button", {type: "button", onclick: () => {
        const before = state.shown;
        state.shown += PAGE;
        drawList();
        list.querySelectorAll("ol.documents button")[before].focus();
      }}, `Show ${Math.min(more, PAGE)} more of ${plural(found.length, "document")}`) : "",
      left ? make("p", {class: "soft"}, `${plural(left, "more document")} with little to say ${left === 1 ? "is" : "are"} not listed; ${state.corrected ? "given the model" : "together"} they add ${amount(adds)} to the expected count.`) : "",
      others > 0 ? make("p", {class: "soft"}, `In ${found.length + left ? "the other " : ""}${plural(others, "document")} the model found nothing of the kind${state.corrected && s.mean[k][i] > 0 ? "; what it may have missed there is part of the corrected count" : ""}.`) : "");
  }
  list.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      const svg = panels.querySelector(`[data-key="${state.key}"] svg`);
      if (svg) svg.focus();
    }
  });

  /* --- a text */

  const HUES = [210, 30, 130, 280, 0, 175, 55, 320, 240, 95];
  function marked(text, spans) {
    /* Spans may nest and cross: each stretch between ends gets the spans that cover it. */
    const box = make("div", {class: "text", dir: "auto", tabindex: "-1"});
    const order = spans.map((s, i) => [s.start, -s.end, i]).sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    const points = [...new Set([0, text.length, ...spans.flatMap(s => [s.start, s.end])])].sort((a, b) => a - b);
    let stack = [], next = 0;
    for (let p = 0; p + 1 < points.length; p++) {
      const from = points[p], to = points[p + 1];
      let cover = stack.map(open => open.span).filter(s => s.end > from);
      while (next < order.length && order[next][0] <= from) cover.push(spans[order[next++][2]]);
      let same = 0;
      while (same < stack.length && same < cover.length && stack[same].span === cover[same]) same++;
      stack = stack.slice(0, same);
      for (const span of cover.slice(same)) {
        const node = span.node();
        (stack.length ? stack[stack.length - 1].node : box).append(node);
        stack.push({span, node});
      }
      (stack.length ? stack[stack.length - 1].node : box).append(text.slice(from, to));
    }
    return box;
  }

  function drawText(content) {
    const mentions = content.mentions || [], links = content.links;
    const nodes = mentions.map(() => []);
    const word = i => content.text.slice(mentions[i][0], mentions[i][1]).replace(/\s+/g, " ");
    const spans = mentions.map(([start, end, entity], i) => ({start, end, node: () => {
      const node = make("span", entity < 0 ? {class: "m", "data-i": i}
        : {class: "m e", "data-i": i, "data-e": entity + 1, style: `--h:${HUES[entity % HUES.length]}`});
      nodes[i].push(node);
      return node;
    }}));
    const tokens = new Map();
    for (const reason of content.reasons || []) {
      for (const [start, end, role] of reason.tokens) tokens.set(`${start}-${end}`, [start, end, role]);
    }
    for (const [start, end, role] of tokens.values()) {
      spans.push({start, end, node: () => make("span", {class: `t ${role}`})});
    }
    const box = marked(content.text, spans);
    const panel = make("div", {id: "links", role: "status", "aria-live": "polite"});
    let current = -1;
    const clear = () => { for (const node of box.querySelectorAll(".on, .linked")) node.classList.remove("on", "linked"); };
    const tell = i => {
      clear();
      current = i;
      nodes[i].forEach(node => node.classList.add("on"));
      const found = [];
      const row = links ? links[i] : [];
      for (let at = 0; at < row.length; at += 2) {
        if (row[at] === i) continue;
        found.push([row[at], row[at + 1] / 1000]);
        nodes[row[at]].forEach(node => {
          node.classList.add("linked");
          node.style.setProperty("--p", Math.max(0.15, row[at + 1] / 1000));
        });
      }
      panel.replaceChildren(make("p", {}, "“", own(word(i)), "” ",
        found.length ? "names the same as" : links ? "names nothing else in this text, as far as the model sees."
          : "stands as it was found; there are no link probabilities."),
      make("ul", {}, found.map(([j, p]) => make("li", {}, "“", own(word(j)), "” ", make("b", {}, chance(p))))));
    };
    const rest = () => {
      clear();
      panel.replaceChildren(make("p", {class: "soft"}, !mentions.length ? "No mentions are known in this text."
        : `${content.annotated ? "Colours and numbers show annotated entities." : "Colours and numbers show the entities of the single best analysis."}`
          + `${links ? " Point at a mention, or move between mentions with the arrow keys, to see the probability of each link." : ""}`));
    };
    rest();
    if (mentions.length) {
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "Text. Arrow left and right move between mentions.");
      box.addEventListener("pointerover", event => {
        const node = event.target.closest(".m");
        if (node) tell(Number(node.dataset.i)); else rest();
      });
      box.addEventListener("pointerleave", rest);
      box.addEventListener("focus", () => { if (box.matches(":focus-visible")) tell(Math.max(current, 0)); });
      box.addEventListener("blur", rest);
      box.addEventListener("keydown", event => {
        const step = {ArrowRight: 1, ArrowLeft: -1, Home: -mentions.length, End: mentions.length}[event.key];
        if (!step) return;
        event.preventDefault();
        tell(Math.max(0, Math.min(mentions.length - 1, current + step)));
        nodes[current][0].scrollIntoView({block: "nearest"});
      });
    }
    return [box, panel];
  }

  function drawReasons(content) {
    const reasons = content.reasons;
    if (!reasons) return [];
    if (!reasons.length) return [make("p", {class: "soft"}, "The rule holds for no entity of this text.")];
    return [make("p", {class: "soft"}, "The rule holds for these entities:"), make("ul", {class: "reasons"}, reasons.map(reason => {
      const when = reason.samples > 1
        ? `${reason.best ? "in the single best analysis; " : ""}in ${Math.round(reason.share * reason.samples)} of ${reason.samples} fresh samples`
        : "every mention alone";
      return make("li", {}, make("b", {}, own(reason.key)), `: ${when}. The entity: `,
        reason.mentions.map((m, i) => [i ? ", " : "", "“", own(m), "”"]).flat(), ".",
        reason.why.map(why => make("div", {}, own(why))));
    }))];
  }

  function openDocument(d, focus) {
    state.document = d;
    for (const node of root.querySelectorAll("[data-document]")) {
      if (Number(node.dataset.document) === d) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
    drawDocument();
    if (focus) {
      reader.querySelector("h2").focus({preventScroll: true});
      reader.scrollIntoView({block: "start"});
    }
  }

  function drawDocument() {
    const d = state.document;
    if (d === null) {
      reader.replaceChildren();
      return;
    }
    const mine = [];
    rows.document.forEach((at, r) => { if (at === d) mine.push(r); });
    mine.sort((a, b) => probability(b) - probability(a));
    const content = hasText.has(d) ? data(`text-${d}`) : null;
    const says = [mine.length ? make("p", {}, mine.slice(0, 12).map((r, i) => [i ? "; " : "", own(D.keys[rows.key[r]]), " ",
      make("b", {}, D.several ? amount(expected(r)) : chance(probability(r)))]).flat())
      : make("p", {class: "soft"}, "The model found none of the keys here."),
    ...(content ? drawReasons(content) : [])];
    /* Who is to answer should not be told the answer first. */
    const blind = inPlan.has(d) && !answers.has(d);
    const parts = content ? drawText(content)
      : [make("p", {class: "note"}, D.texts.length ? "The text of this document was not kept in the page."
        : "The page was written without texts.")];
    if (content && content.cut) parts.splice(1, 0, make("p", {class: "note"}, "The text is longer; this is its beginning."));
    reader.replaceChildren(
      make("h2", {tabindex: "-1"}, own(titleOf(d))),
      make("p", {class: "soft"}, own(docs.id[d]), ` · ${D.grains[0].labels[docs.period[d]]}`,
        docs.weight ? ` · counts ${amount(docs.weight[d])}` : "", wasRead.has(d) ? " · read by hand" : ""),
      ...drawQuestions(d), ...parts,
      make("details", {id: "says", open: !blind}, make("summary", {}, make("h3", {}, "What the model says")),
        blind ? make("p", {class: "soft"}, "Better looked at once the questions are answered.") : null, says));
  }
  reader.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    const back = root.querySelector(`[data-document="${state.document}"]`);
    if (back) back.focus();
  });

  /* --- answers */

  const inPlan = new Map(plan ? plan.documents.map((d, i) => [d, i]) : []);
  const asked = new Map();      // document -> list of questions
  const answers = new Map();    // document -> map of key to answer
  const named = key => plan.names[plan.keys.indexOf(key)] || key;
  const store = plan ? `sklearn-calib ${plan.fingerprint}` : "";
  let unsaved = false;
  if (plan) {
    plan.question.forEach((d, q) => {
      if (!asked.has(d)) asked.set(d, []);
      asked.get(d).push({key: plan.key[q], why: plan.why[q], period: plan.period[q], title: plan.title[q]});
      if (plan.answer[q] !== "") give(d, plan.key[q], plan.answer[q]);
    });
    try {
      const kept = JSON.parse(localStorage.getItem(store) || "{}");
      for (const d of plan.documents) {
        if (answers.has(d)) continue;
        for (const [key, answer] of kept[docs.id[d]] || []) ask(d, key, answer);
      }
    } catch (error) { /* no storage: answers live as long as the page */ }
  }
  function give(d, key, answer) {
    if (!answers.has(d)) answers.set(d, new Map());
    if (answer === "") answers.get(d).delete(key); else answers.get(d).set(key, answer);
    if (!answers.get(d).size) answers.delete(d);
  }
  function ask(d, key, answer) {
    const questions = asked.get(d);
    if (!questions.some(q => q.key === key)) {
      if (key !== "" && !plan.keys.includes(key)) return;
      questions.push({...questions[0], key, why: "added by the reader"});
    }
    give(d, key, answer);
  }
  function keep() {
    unsaved = true;
    try {
      localStorage.setItem(store, JSON.stringify(Object.fromEntries([...answers].map(([d, found]) => [docs.id[d], [...found]]))));
    } catch (error) { /* as above */ }
    drawPlan();
  }
  addEventListener("beforeunload", event => { if (unsaved) event.preventDefault(); });

  function drawQuestions(d) {
    if (!plan) return [];
    if (!inPlan.has(d)) {
      return [make("p", {class: "note"}, "This document is not in the reading plan. Answers about documents that somebody "
        + "picked would bias the corrected counts, so none can be given here; plan.extended(n) draws more documents.")];
    }
    const found = answers.get(d) || new Map();
    const questions = asked.get(d);
    const one = question => {
      const value = found.get(question.key);
      const name = `answer-${d}-${questions.indexOf(question)}`;
      const set = answer => { give(d, question.key, answer); keep(); };
      const option = (answer, text) => make("label", {}, make("input", {
        type: "radio", name, value: answer, checked: value === answer, onchange: () => set(answer),
      }), text);
      const choices = D.several && question.key !== ""
        ? make("label", {}, "how often ", make("input", {
          type: "number", name, min: "0", step: "1", value: value === undefined ? "" : value,
          onchange: event => {
            const n = Number(event.target.value);
            const good = event.target.value === "" || (Number.isInteger(n) && n >= 0);
            event.target.setCustomValidity(good ? "" : "A whole number, or nothing.");
            if (good) set(event.target.value === "" ? "" : String(n)); else event.target.reportValidity();
          },
        }))
        : make("span", {class: "choices"}, question.key === "" ? null : option("yes", "yes"),
          option(D.several ? "0" : "no", question.key === "" ? "none of the keys" : "no"));
      return make("fieldset", {}, make("legend", {}, question.key === "" ? "Any key?" : own(named(question.key))), choices,
        value === undefined ? null : make("button", {type: "button", onclick: () => { set(""); drawDocument(); }}, "Take back"),
        make("span", {class: "soft"}, own(question.why)));
    };
    const open = plan.keys.filter(key => !questions.some(q => q.key === key));
    const other = open.length ? make("div", {class: "where"}, make("label", {}, "Another key ",
      make("select", {id: "other-key"}, open.map(key => make("option", {value: key}, named(key))))),
    make("button", {type: "button", onclick: () => {
      ask(d, document.getElementById("other-key").value, D.several ? "1" : "yes");
      keep();
      drawDocument();
      reader.querySelector(".questions").focus();
    }}, "It is there, too")) : "";
    return [make("div", {class: "questions", tabindex: "-1"},
      make("h3", {style: "margin-top:0"}, `To read, number ${inPlan.get(d) + 1} of ${plan.documents.length}: is it so?`),
      questions.map(one), other,
      make("p", {class: "soft"}, "With one answer the document counts as read, and what is left open in it as no."),
      make("button", {type: "button", onclick: nextToRead}, "Next to read"))];
  }
  function nextToRead() {
    const left = plan.documents.find(d => !answers.has(d) && d !== state.document);
    if (left !== undefined) openDocument(left, true);
    else say("All documents of the plan have answers.");
  }

  const field = value => `"${String(value).replace(/"/g, '""')}"`;
  function answersAsCsv() {
    const lines = [["document", "period", "title", "key", "why", "answer"]];
    for (const d of plan.documents) {
      for (const q of asked.get(d)) {
        const answer = answers.has(d) ? answers.get(d).get(q.key) : undefined;
        lines.push([docs.id[d], q.period, q.title, q.key, q.why, answer === undefined ? "" : answer]);
      }
    }
    return lines.map(line => line.map(field).join(",")).join("\r\n") + "\r\n";
  }
  function save() {
    const url = URL.createObjectURL(new Blob([answersAsCsv()], {type: "text/csv"}));
    const link = make("a", {href: url, download: "answers.csv"});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    unsaved = false;
    say("Saved answers.csv");
  }

  const planList = make("details", {}, make("summary", {}, "The documents, in the order of reading"));
  planList.addEventListener("toggle", () => { if (planList.open) drawPlan(); });
  const progress = make("p", {});
  const saveButton = make("button", {type: "button", id: "save", onclick: save}, "Save answers as CSV");
  function drawPlan() {
    if (!plan) return;
    const n = plan.documents.length, done = plan.documents.filter(d => answers.has(d)).length;
    progress.replaceChildren(`${whole(done)} of ${plural(n, "document")} answered `,
      make("progress", {max: n, value: done, "aria-label": "Documents with answers"}));
    saveButton.disabled = !done;
    const old = planList.querySelector("ol");
    if (old) old.remove();
    if (planList.open) {
      planList.append(make("ol", {class: "documents"}, plan.documents.map((d, i) =>
        entry(d, make("span", {class: "measure"}, answers.has(d) ? make("span", {class: "tag done"}, "answered") : `${i + 1}`), []))));
    }
  }
  if (plan) {
    reading.append(make("h2", {}, "Read, to correct the counts"),
      make("p", {class: "soft"}, "These documents were drawn at random with known probabilities. Read them in their order; "
        + "whoever stops early has read a shorter plan, and nothing is lost. Only they can be answered: answers about "
        + "documents that somebody picked would bias the counts."),
      progress, make("div", {class: "where"},
        make("button", {type: "button", class: "main", id: "next", onclick: nextToRead}, "Next to read"), saveButton),
      make("p", {class: "soft"}, "Then, in Python: ", make("code", {}, 'posterior.corrected(plan.answered("answers.csv"))'),
        "; or, on the command line, the same plan and ", make("code", {}, "--answers answers.csv"), " in place of ", make("code", {}, "--read"), "."),
      planList);
  } else {
    reading.append(make("p", {class: "soft"}, "To correct the counts by reading, draw a plan with ",
      make("code", {}, "reading_plan(posterior, 100)"), ", pass it as ", make("code", {}, "plan="),
      " when the page is written, and give the answers here. Documents that somebody picks are no random sample."));
  }

  function redraw() {
    drawPanels();
    drawList();
    drawDocument();
  }
  root.append(controls, make("section", {id: "series", "aria-label": "Series"}, legend, panels, table),
    reading, make("div", {class: "columns"}, list, reader));
  redraw();
  drawPlan();
  let width = panels.clientWidth;
  new ResizeObserver(() => {
    if (panels.clientWidth !== width) { width = panels.clientWidth; drawPanels(); }
  }).observe(panels);
  document.documentElement.dataset.ready = "true";
})();
