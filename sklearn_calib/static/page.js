"use strict";
/* What every page uses: elements made from plain text, numbers, and a tip that follows. */

const SVG = "http://www.w3.org/2000/svg";

/* Text is only ever set as text, so that nothing from a corpus is read as HTML. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}
const make = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
/* A text of unknown direction keeps that direction to itself. */
const own = text => make("bdi", {}, String(text));

const data = name => {
  const node = document.getElementById(name);
  return node ? JSON.parse(node.textContent) : null;
};

/* Numbers as people write them. */
const whole = n => n.toLocaleString("en");
function amount(value) {
  if (value === null || value === undefined) return "unknown";
  if (Number.isInteger(value)) return whole(value);
  const digits = Math.abs(value) < 9.995 ? 2 : 1;
  return value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});
}
function chance(p) {
  if (p > 0 && p < 0.005) return "<0.01";
  if (p < 1 && p >= 0.995) return ">0.99";
  return p.toFixed(2);
}
const plural = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;

const tip = make("div", {id: "tip", hidden: true});
const spoken = make("div", {class: "unseen", role: "status", "aria-live": "polite"});
document.body.append(tip, spoken);
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x - width / 2, innerWidth - width - 8));
  const above = y - height - 12;
  const top = above > 4 ? above : Math.min(y + 18, innerHeight - height - 4);
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${top + scrollY}px`;
}
const hideTip = () => { tip.hidden = true; };
const say = text => { spoken.textContent = text; };
addEventListener("keydown", event => { if (event.key === "Escape") hideTip(); });
