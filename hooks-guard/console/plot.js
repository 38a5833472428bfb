// Plots, each with a table of its values. They are drawn at their display width, so that their text
// has the usual size.

import { el, svg } from "./dom.js";
import { number } from "./time.js";

const HEIGHT = 190;
/** Width of a time label. */
const LABEL = 64;
const LEFT = 46;
const BOTTOM = 22;
const TOP = 8;
const RIGHT = 8;

/** Returns a round step of a scale, so that at most five steps reach `most`. */
function step(most) {
  const rough = Math.max(most, 1e-9) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  return nice;
}

function frame(width, most, format, labels) {
  const unit = step(most);
  const top = Math.max(unit, Math.ceil(most / unit) * unit);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const lines = [];
  for (let value = 0; value <= top + unit / 2; value += unit) {
    lines.push(
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)),
    );
  }
  const wide = (width - LEFT - RIGHT) / labels.length;
  const every = Math.max(1, Math.ceil(LABEL / wide));
  labels.forEach((label, at) => {
    if (at % every === 0) lines.push(svg("text", { x: LEFT + wide * (at + 0.5), y: HEIGHT - 6, "text-anchor": "middle" }, label));
  });
  return { y, wide, lines };
}

function drawing(width, name, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": name }, ...children.flat());
}

/** Stacked bars over time. */
export function stacked(width, name, labels, series) {
  const sums = labels.map((_, at) => series.reduce((sum, one) => sum + one.values[at], 0));
  const { y, wide, lines } = frame(width, Math.max(...sums, 1), short, labels);
  const bars = labels.flatMap((label, at) => {
    let sum = 0;
    return series
      .filter((one) => one.values[at] > 0)
      .map((one) => {
        const low = y(sum);
        sum += one.values[at];
        const gap = Math.min(2, wide * 0.2);
        return svg(
          "rect",
          { class: "series", "data-series": one.tone, x: LEFT + wide * at + gap / 2, width: Math.max(0.5, wide - gap), y: y(sum), height: Math.max(0.5, low - y(sum)) },
          svg("title", {}, `${label}: ${number(one.values[at])} ${one.name}`),
        );
      });
  });
  return drawing(width, name, lines, bars);
}

/** Lines over time. */
export function lines(width, name, labels, series, format, most) {
  const highest = most ?? Math.max(...series.flatMap((one) => one.values), 1);
  const { y, wide, lines: grid } = frame(width, highest, format, labels);
  const x = (at) => LEFT + wide * (at + 0.5);
  const drawn = series.map((one) => {
    const points = one.values.map((value, at) => (value === null ? null : `${x(at).toFixed(1)},${y(value).toFixed(1)}`));
    const runs = [[]];
    for (const point of points) {
      if (point === null) runs.push([]);
      else runs.at(-1).push(point);
    }
    return runs
      .filter((run) => run.length > 0)
      .map((run) => svg("polyline", { class: "line-series", "data-series": one.tone, "stroke-linecap": "round", points: run.length === 1 ? `${run[0]} ${run[0]}` : run.join(" ") }, svg("title", {}, one.name)));
  });
  return drawing(width, name, grid, drawn.flat());
}

/** Horizontal bars with names. */
export function bars(width, name, rows, tone = "accent") {
  const high = 24;
  const most = Math.max(...rows.map((row) => row.value), 1);
  const height = Math.max(1, rows.length) * high;
  const room = width - 126 - 60;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name },
    ...rows.flatMap((row, at) => [
      svg("text", { x: 118, y: at * high + 16, "text-anchor": "end" }, row.name.length > 18 ? `${row.name.slice(0, 17)}…` : row.name),
      svg("rect", { class: "series", "data-series": row.tone ?? tone, x: 126, y: at * high + 5, rx: 2, height: high - 10, width: Math.max(1, (room * row.value) / most) }),
      svg("text", { x: 132 + (room * row.value) / most, y: at * high + 16 }, number(row.value)),
    ]),
  );
}

/** Legend of the colours. */
export function legend(series) {
  return el("ul", { class: "legend" }, ...series.map((one) => el("li", { "data-series": one.tone }, one.name)));
}

/** Table of the values. */
export function table(heads, rows) {
  return el(
    "details",
    {},
    el("summary", {}, "Show table"),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${heads.join(", ")}` },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...heads.map((head, at) => el("th", { scope: "col", class: at > 0 ? "number" : "" }, head)))),
        el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, at) => (at > 0 ? el("td", { class: "number" }, cell) : el("th", { scope: "row" }, cell)))))),
      ),
    ),
  );
}

/** Formats a number in few characters. */
export function short(value) {
  if (value >= 1_000_000) return `${+(value / 1_000_000).toFixed(1)}M`;
  if (value >= 1000) return `${+(value / 1000).toFixed(1)}k`;
  return String(+value.toFixed(2));
}
