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
/** Maximum width of a bar over time: a single one would fill the plot. */
const BAR = 72;
/** Distance between the values of dots. */
const LINE = 13;
const COMPACT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const PRECISE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

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
    const gap = Math.min(2, wide * 0.2);
    const broad = Math.min(BAR, wide - gap);
    const middle = LEFT + wide * (at + 0.5);
    const drawn = series
      .filter((one) => one.values[at] > 0)
      .map((one) => {
        const low = y(sum);
        sum += one.values[at];
        return svg(
          "rect",
          { class: "series", "data-series": one.tone, x: middle - broad / 2, width: Math.max(0.5, broad), y: y(sum), height: Math.max(0.5, low - y(sum)) },
          svg("title", {}, `${label}: ${number(one.values[at])} ${one.name}`),
        );
      });
    // A single bar says its value.
    if (sum > 0 && sums.filter(Boolean).length === 1) drawn.push(svg("text", { class: "value", x: middle + broad / 2 + 6, y: y(sum) + 10 }, number(sum)));
    return drawn;
  });
  return drawing(width, name, lines, bars);
}

/** Lines over time. A point without neighbours is a dot, and a series of one point also has its value. */
export function lines(width, name, labels, series, format, most) {
  const highest = most ?? Math.max(...series.flatMap((one) => one.values), 1);
  const { y, wide, lines: grid } = frame(width, highest, format, labels);
  const x = (at) => LEFT + wide * (at + 0.5);
  const drawn = series.flatMap((one) => {
    const runs = [[]];
    one.values.forEach((value, at) => {
      if (value === null) runs.push([]);
      else runs.at(-1).push([x(at).toFixed(1), y(value).toFixed(1)]);
    });
    const title = () => svg("title", {}, one.name);
    return runs
      .filter((run) => run.length > 0)
      .map((run) =>
        run.length === 1
          ? svg("circle", { class: "series dot", "data-series": one.tone, cx: run[0][0], cy: run[0][1], r: 4 }, title())
          : svg("polyline", { class: "line-series", "data-series": one.tone, "stroke-linecap": "round", points: run.map((point) => point.join(",")).join(" ") }, title()),
      );
  });
  return drawing(width, name, grid, drawn, values(width, series, format, x, y));
}

/** Values of the series that have one point, beside their dots and below each other. */
function values(width, series, format, x, y) {
  const single = series.flatMap((one) => {
    const at = one.values.findIndex((value) => value !== null);
    const others = one.values.some((value, other) => value !== null && other !== at);
    return at < 0 || others ? [] : [{ at, value: one.values[at], text: series.length > 1 ? `${one.name} ${format(one.values[at])}` : format(one.values[at]) }];
  });
  single.sort((one, other) => one.value - other.value);
  // Upwards from the lowest value, and then down again from the upper edge.
  let low = Number.POSITIVE_INFINITY;
  for (const one of single) one.y = low = Math.min(y(one.value) + 4, low - LINE);
  let high = TOP + LINE / 2;
  for (const one of single.toReversed()) {
    one.y = Math.max(one.y, high);
    high = one.y + LINE;
  }
  return single.map((one) => {
    const left = x(one.at) > width * 0.7;
    return svg("text", { class: "value", x: x(one.at) + (left ? -8 : 8), y: one.y, "text-anchor": left ? "end" : "start" }, one.text);
  });
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
  return (value >= 1000 ? COMPACT : PRECISE).format(value);
}
