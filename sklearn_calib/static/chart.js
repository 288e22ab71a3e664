/* Axes, and places that can be pointed at, touched, or reached with the arrow keys. */

/* Round numbers from 0 to at least `most`; whole ones where counts are whole. */
function ticks(most, about, step) {
  const rough = Math.max(most, 1e-12) / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  let size = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => s >= rough * 0.999);
  if (step && size < step) size = step;
  if (step && size % step) size = Math.ceil(size / step) * step;
  const found = [];
  const n = Math.max(1, Math.ceil(most / size - 1e-9));
  for (let i = 0; i <= n; i++) found.push(Number((i * size).toPrecision(12)));
  return found;
}

/* A frame with y ticks and room for x labels. Returns scales and the drawing. */
function frame({width, height, top, label, yTicks, yText = amount, left, bottom = 24, right = 8}) {
  const texts = yTicks.map(yText);
  left = left || 12 + 7.5 * Math.max(...texts.map(text => text.length));
  const most = yTicks[yTicks.length - 1];
  const y = value => height - bottom - (value / most) * (height - bottom - top);
  const svg = draw("svg", {class: "plot", viewBox: `0 0 ${width} ${height}`, width, height});
  for (const [i, value] of yTicks.entries()) {
    svg.append(
      draw("line", {class: i ? "grid" : "axis", x1: left, x2: width - right, y1: y(value), y2: y(value)}),
      draw("text", {x: left - 6, y: y(value) + 4, "text-anchor": "end"}, texts[i]));
  }
  if (label) svg.append(draw("text", {x: 0, y: 11}, label));
  return {svg, y, left, right: width - right, floor: height - bottom, top, width, height};
}

/* Let places along x be pointed at and reached by keyboard.
   `at(i)` is [from, to] in the units of the drawing, `tell(i)` the text, `choose(i)` an action. */
function reachable(plot, n, {at, tell, choose, name, start}) {
  const {svg} = plot;
  let current = -1;
  const under = draw("rect", {class: "under", y: plot.top, height: plot.floor - plot.top, width: 0});
  svg.prepend(under);
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", choose ? "application" : "img");
  svg.setAttribute("aria-label", name);
  if (choose) svg.classList.add("pick");
  const light = i => {
    current = i;
    const [from, to] = at(i);
    under.setAttribute("x", from);
    under.setAttribute("width", Math.max(to - from, 1));
    under.classList.add("on");
  };
  const off = () => { under.classList.remove("on"); hideTip(); };
  const find = event => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * plot.width / box.width;
    let best = -1, least = Infinity;
    for (let i = 0; i < n; i++) {
      const [from, to] = at(i);
      const away = x < from ? from - x : x > to ? x - to : 0;
      if (away < least) { least = away; best = i; }
      if (away === 0) break;
    }
    return least < 30 ? best : -1;
  };
  svg.addEventListener("pointermove", event => {
    const i = find(event);
    if (i < 0) { off(); return; }
    light(i);
    showTip(tell(i), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", off);
  const byKey = i => {
    light(i);
    const box = svg.getBoundingClientRect();
    const [from, to] = at(i);
    const x = box.left + (from + to) / 2 * box.width / plot.width;
    showTip(tell(i), x, box.top + plot.top * box.height / plot.height);
    say(tell(i).replace(/\n/g, ", "));
  };
  let pressed = false;
  svg.addEventListener("pointerdown", () => { pressed = true; });
  svg.addEventListener("focus", () => {
    if (!pressed && n) byKey(current < 0 ? Math.max(0, start || 0) : current);
    pressed = false;
  });
  svg.addEventListener("blur", off);
  svg.addEventListener("keydown", event => {
    const steps = {ArrowRight: 1, ArrowLeft: -1, Home: -n, End: n, PageUp: -10, PageDown: 10};
    if (event.key in steps) {
      event.preventDefault();
      byKey(Math.max(0, Math.min(n - 1, current + steps[event.key])));
    } else if (choose && (event.key === "Enter" || event.key === " ") && current >= 0) {
      event.preventDefault();
      off();
      choose(current);
    }
  });
  if (choose) {
    svg.addEventListener("click", event => {
      const i = find(event);
      if (i >= 0) { off(); choose(i); }
    });
  }
  return {light, off};
}
