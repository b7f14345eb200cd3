// SPDX-License-Identifier: Apache-2.0
// Draws the charts of a report from the data in the page. Text goes into the page as text only.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
// As wide as it is shown, so that its letters are as large as those beside it.
const WIDTH = Math.min(Math.max(((document.getElementById("charts") || document.getElementById("jobs"))?.clientWidth || 1000) - 34, 300), 1000);
const LEFT = WIDTH < 600 ? 68 : 96, RIGHT = 14;
const LISTS = {
  NL: ["nl", data.ranked ? "before its usable model" : "new or still learning"], WL: ["wl", "watched, slower"],
  CL: ["cl", data.ranked ? "probably past its usable model" : "converged"],
  PC: ["nl", "progressing"], WC: ["wl", "watched"], CC: ["cl", "converged"],
};
// States of a job; those after its end have no band.
const STATES = {
  waiting: ["cl", "in the queue"], running: ["nl", "has its room"], placing: ["wl", "goes to another host"],
  starting: ["wl", "is started"], parking: ["wl", "saves itself"], returning: ["wl", "comes home"],
  stopping: ["wl", "is stopped"],
};

// --- words

const isNumber = (v) => typeof v === "number" && Number.isFinite(v);
const two = (n) => String(n).padStart(2, "0");

// Times are the host's own, as in the tables; its offset from UTC changes with summer time.
const offsetAt = (t) => (rowAt(data.offsets, t) || data.offsets[0])[1];
function moment(t) {
  const d = new Date((t + offsetAt(t)) * 1000);
  return isNaN(d) ? "--" : d.toISOString().slice(0, 19).replace("T", " ");
}
// For a time axis with a mark each `step` seconds over `span`.
function clock(t, step, span) {
  const d = new Date((t + offsetAt(t)) * 1000);
  if (isNaN(d)) return "--";
  const day = two(d.getUTCMonth() + 1) + "-" + two(d.getUTCDate());
  const time = two(d.getUTCHours()) + ":" + two(d.getUTCMinutes());
  if (step >= DAY) return span > 300 * DAY ? d.getUTCFullYear() + "-" + day : day;
  if (span > DAY) return day + " " + time;
  return step >= 60 ? time : time + ":" + two(d.getUTCSeconds());
}
function plain(v, digits = 4) {
  if (!isNumber(v)) return "--";
  return String(Number(v.toPrecision(digits)));
}
// As two_digits() of base/digits.h.
function twoDigits(v) {
  if (v !== 0 && Math.abs(v) < 0.001) return "<0.001";
  const rounded = Number(v.toPrecision(2));
  return Math.abs(rounded) < 10 ? String(rounded) : v.toFixed(0);
}
const percent = (v, digits) => (isNumber(v) ? (digits ? plain(v * 100, digits) : twoDigits(v * 100)) + " %" : "--");
const perSecond = (v, digits = 4) => (isNumber(v) ? percent(v, digits) + "/s" : "--");
function scaled(v, step, units, digits) {
  if (!isNumber(v)) return "--";
  let i = 0;
  while (Math.abs(v) >= step && i + 1 < units.length) { v /= step; ++i; }
  return plain(v, digits) + " " + units[i];
}
const bytes = (v, digits) => scaled(v, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], digits);
const rate = (v, digits) => scaled(v, 1000, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"], digits);

// --- round numbers

const DAY = 86400;
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY];

// The least of 1, 2, 5, 10, … times a power of `unit` that is not below `least`, both above 0.
function roundStep(least, unit) {
  const power = unit ** Math.floor(Math.log(least) / Math.log(unit));
  if (!(power > 0)) return least;  // too small a number for any of them
  for (let ten = 1; ; ten *= 10) {
    for (const part of [1, 2, 5]) if (part * ten * power >= least) return part * ten * power;
  }
}
function clockStep(least) {
  return CLOCK_STEPS.find((step) => step >= least) || DAY * roundStep(least / DAY, 10);
}
function multiples(step, from, to, offset = 0) {
  const found = [];
  const first = Math.ceil((from + offset) / step - 1e-6), last = Math.floor((to + offset) / step + 1e-6);
  for (let i = first; i <= last && found.length < 20; ++i) found.push(i * step - offset);
  return found;
}
// Multiples of local time, counted anew after each change of its offset.
function localMultiples(step, from, to) {
  return data.offsets.flatMap(([since, offset], i) => {
    const end = i + 1 < data.offsets.length ? Math.min(data.offsets[i + 1][0] - 1, to) : to;
    return multiples(step, i > 0 ? Math.max(since, from) : from, end, offset);
  });
}

// --- elements

function element(parent, name, attributes, text) {
  const made = parent.namespaceURI === SVG || name === "svg" ? document.createElementNS(SVG, name)
                                                            : document.createElement(name);
  for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

// The last row of `rows` (time first) that is not later than t.
function rowAt(rows, t) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][0] <= t) low = middle + 1; else high = middle;
  }
  return low > 0 ? rows[low - 1] : null;
}

// The first row that is not earlier: a look is about the time before it.
function lookAt(rows, t) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][0] < t) low = middle + 1; else high = middle;
  }
  return low < rows.length ? rows[low] : null;
}

// --- one chart

class Chart {
  constructor(parent, begin, end, height, title, label) {
    this.begin = begin;
    this.end = end > begin ? end : begin + 1;
    this.height = height;
    element(parent, "h4", {}, title);
    this.svg = element(parent, "svg", {
      class: "chart", viewBox: `0 0 ${WIDTH} ${height + 20}`, role: "img", "aria-label": label,
    });
    this.low = 0;
    this.high = 1;
  }
  x(t) {
    const part = (t - this.begin) / (this.end - this.begin);
    return LEFT + (WIDTH - LEFT - RIGHT) * Math.min(Math.max(part, 0), 1);
  }
  y(v) {
    const width = this.high / 2 - this.low / 2;
    const part = width > 0 ? (v / 2 - this.low / 2) / width : 0.5;
    return 4 + (this.height - 8) * (1 - Math.min(Math.max(part, 0), 1));
  }
  // `fixed`: at least that far. `unit`: of the numbers that count as round.
  range(values, fixed, unit = 10) {
    const known = values.filter(isNumber);
    this.low = fixed ? fixed[0] : known.reduce((a, b) => Math.min(a, b), Infinity);
    this.high = fixed ? Math.max(fixed[1], known.reduce((a, b) => Math.max(a, b), -Infinity))
                      : known.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(this.low <= this.high)) { this.low = 0; this.high = 1; }
    const least = (this.high - this.low) / Math.max(2, Math.floor(this.height / 40));
    if (least > 0 && Number.isFinite(least) && unit * least < Number.MAX_VALUE) {
      this.step = roundStep(least, unit);
      if (fixed) this.high = this.step * Math.ceil(this.high / this.step - 1e-6);
    }
    return this;
  }
  axes(label) {
    const values = this.step ? multiples(this.step, this.low, this.high)
                 : this.high > this.low ? [this.low, this.high] : [this.low];
    const most = values.reduce((a, v) => Math.max(a, Math.abs(v)), 0);
    const digits = this.step && most > 0 ? Math.min(Math.max(Math.ceil(Math.log10(most / this.step)) + 2, 3), 15) : 4;
    for (const v of values) {
      const y = this.y(v);
      element(this.svg, "line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y });
      element(this.svg, "text", { class: "tick", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, label(v, digits));
    }
    return this.times();
  }
  times() {
    const span = this.end - this.begin;
    const step = clockStep(span / Math.max(1, Math.floor((WIDTH - LEFT) / 110)));
    for (const t of localMultiples(step, this.begin, this.end)) {
      const x = this.x(t);
      element(this.svg, "line", { class: "axis", x1: x, x2: x, y1: this.height, y2: this.height + 4 });
      element(this.svg, "text", {
        class: "moment", x, y: this.height + 15,
        "text-anchor": x < LEFT + 30 ? "start" : x > WIDTH - 40 ? "end" : "middle",
      }, clock(t, step, span));
    }
    return this;
  }
  bands(all, until, top, height, looks = LISTS) {
    // A band goes on where only the limit changes.
    const places = all.filter((place, i) => i === 0 || place[1] !== all[i - 1][1]);
    places.forEach((place, i) => {
      const look = looks[place[1]];
      if (!look) return;
      const from = this.x(place[0]);
      const to = this.x(i + 1 < places.length ? places[i + 1][0] : until);
      if (!(to > from)) return;
      const band = element(this.svg, "rect", { class: look[0], x: from, y: top, width: to - from, height });
      const name = place[3] ? `${place[1]} on ${place[3]}` : place[1];
      element(band, "title", {}, `${name}, ${look[1]}, from ${moment(place[0])}`);
      if (to - from > 8 + 7 * name.length) {
        element(this.svg, "text", { class: "band", x: from + 4, y: top + 11 }, name);
      }
    });
    return this;
  }
  line(rows, pick, style, steps, until) {
    let path = "", before = null, open = false, count = 0, last = null;
    for (const row of rows) {
      const v = pick(row);
      if (!isNumber(v)) { open = false; continue; }
      const x = this.x(row[0]).toFixed(1), y = this.y(v).toFixed(1);
      if (!open) path += `M${x} ${y}`;
      else path += steps ? `H${x}V${y}` : `L${x} ${y}`;
      open = true;
      last = [x, y];
      ++count;
    }
    if (steps && open && until !== undefined) path += `H${this.x(until).toFixed(1)}`;
    if (count === 1 && !(steps && until !== undefined)) {
      element(this.svg, "circle", { class: "dot", cx: last[0], cy: last[1], r: 2.5 });
    }
    if (count > 0) element(this.svg, "path", { class: style, d: path, "data-points": count });
    return this;
  }
  level(v, words) {
    if (!isNumber(v) || v < this.low || v > this.high) return this;
    const y = this.y(v);
    element(this.svg, "line", { class: "level", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y });
    element(this.svg, "text", { x: WIDTH - RIGHT, y: y - 3, "text-anchor": "end" }, words);
    return this;
  }
  moves(moves) {
    for (const move of moves) {
      if (move.time < this.begin || move.time > this.end) continue;
      const x = this.x(move.time);
      const line = element(this.svg, "line", { class: "move", x1: x, x2: x, y1: 0, y2: this.height });
      element(line, "title", {}, move.words);
    }
    return this;
  }
  marks(marks, y) {
    for (const mark of marks) {
      const isList = mark[2].split(" ")[0] !== mark[3].split(" ")[0];
      const dot = element(this.svg, "circle", {
        class: isList ? "change" : "mark", cx: this.x(mark[0]), cy: y, r: isList ? 4 : 2.5,
      });
      element(dot, "title", {}, markWords(mark));
    }
    return this;
  }
  cursor(t) {
    if (!this.pointer) {
      this.pointer = element(this.svg, "line", { class: "cursor", y1: 0, y2: this.height });
    }
    const x = this.x(t);
    this.pointer.setAttribute("x1", x);
    this.pointer.setAttribute("x2", x);
  }
}

function markWords(mark) {
  const what = mark[2] && mark[3] ? `: ${mark[2]} → ${mark[3]}` : mark[3] ? `: ${mark[3]}` : "";
  return `${moment(mark[0])} ${mark[1] || "host"}${what}. ${mark[4]}`;
}

// --- one container

function movesOf(run) {
  const moves = run.stays.map((stay) => ({
    time: stay[2], words: `until ${moment(stay[2])} on ${stay[0]}`,
  }));
  for (const move of data.moves) {
    if (move.name !== run.name) continue;
    const time = isNumber(move.ended) ? move.ended : move.began;
    if (time < run.started - 5 || time > endOf(run) + 5) continue;
    moves.push({ time, words: `${moment(time)} ${move.from} → ${move.to}, ${move.cause}, ${move.step}` });
  }
  return moves;
}

function beginOf(run) {
  const first = [run.samples, run.usage, run.cpu].filter((rows) => rows.length > 0).map((rows) => rows[0][0]);
  return Math.max(run.started, Math.min(data.since, ...first.filter((t) => t >= run.started)));
}
const endOf = (run) => (isNumber(run.finished) ? run.finished : data.made);

function words(run, t) {
  const place = rowAt(run.cpu, t), sample = rowAt(run.samples, t), look = lookAt(run.usage, t);
  const growth = rowAt(run.growth, t), category = rowAt(run.categories, t), mark = rowAt(run.marks, t);
  const parts = [moment(t)];
  if (place) parts.push(`${place[1]}, limit ${percent(place[2])}`);
  if (category) parts.push(`category ${category[1]}`);
  if (sample) parts.push(`${run.metric || "metric"} ${plain(sample[1])}`);
  if (growth) parts.push(`growth ${isNumber(growth[1]) ? perSecond(growth[1]) : "not measured"}`);
  if (look) parts.push(`CPU ${percent(look[1])}, memory ${bytes(look[2])}, I/O ${rate(look[3])}`);
  const stay = run.stays.find((s) => t >= s[1] && t < s[2]);
  if (stay) parts.push(`on ${stay[0]}`);
  return parts.join("; ") + (mark ? `. Last change: ${markWords(mark)}` : "");
}

function drawCharts(box, run) {
  const begin = beginOf(run), end = endOf(run);
  const charts = [];
  const add = (height, title, label) => {
    const chart = new Chart(box, begin, end, height, title, `${run.name}: ${label}`);
    charts.push(chart);
    return chart;
  };
  const moves = movesOf(run);
  const metric = run.metric || "metric";
  const last = run.samples.length > 0 ? run.samples[run.samples.length - 1][1] : null;
  add(170, `${metric}, with the lists as bands`,
      `${metric} over time, ${run.samples.length} points, last value ${plain(last)}`)
    .range(run.samples.map((s) => s[1])).bands(run.cpu, end, 0, 170).axes(plain)
    .line(run.samples, (s) => s[1], "first", false).moves(moves);
  if (run.categories.length > 0) {
    add(18, "Category among hosts", "category among hosts over time").bands(run.categories, end, 0, 18);
  }
  const growths = run.growth.map((g) => g[1]);
  if (growths.some(isNumber)) {
    const most = growths.filter(isNumber).reduce((a, b) => Math.max(a, b), 0);
    add(90, "Growth efficiency on CPU", "growth efficiency over time").range(growths, [0, most || 1])
      .axes(perSecond).line(run.growth, (g) => g[1], "first", true, end)
      .level(data.alpha, `alpha ${percent(data.alpha, 4)}`).moves(moves);
  }
  add(120, "CPU: use (line) and limit (dashed), share of the host; marks are decisions",
      `CPU use and limit over time, ${run.marks.length} changes`)
    .range([...run.usage.map((u) => u[1]), ...run.cpu.map((p) => p[2])], [0, 1]).axes(percent)
    .line(run.usage, (u) => u[1], "first", false).line(run.cpu, (p) => p[2], "second", true, end)
    .moves(moves).marks(run.marks, 8);
  const memory = run.usage.map((u) => u[2]);
  if (memory.some(isNumber)) {
    const most = memory.filter(isNumber).reduce((a, b) => Math.max(a, b), 0);
    add(80, "Memory", "memory over time").range(memory, [0, most || 1], 1024).axes(bytes)
      .line(run.usage, (u) => u[2], "first", false).moves(moves);
  }
  const io = run.usage.map((u) => u[3]);
  if (io.some((v) => isNumber(v) && v > 0)) {
    const most = io.filter(isNumber).reduce((a, b) => Math.max(a, b), 0);
    add(80, "Block I/O", "block I/O over time").range(io, [0, most || 1]).axes(rate)
      .line(run.usage, (u) => u[3], "first", false).moves(moves);
  }
  if (run.memory.length > 0 || run.io.length > 0) {
    add(80, "Limits of memory (dashed) and block I/O (dotted), share of the host",
        "limits of memory and block I/O over time")
      .range([], [0, 1]).axes(percent).line(run.memory, (p) => p[2], "second", true, end)
      .line(run.io, (p) => p[2], "third", true, end).moves(moves);
  }
  return charts;
}

// Pointer and keys move one cursor through all charts of a container.
function listen(box, run, charts, readout) {
  const begin = beginOf(run), end = endOf(run);
  let now = end;
  const show = (t) => {
    now = Math.min(Math.max(t, begin), end);
    for (const chart of charts) chart.cursor(now);
    const said = words(run, now);
    readout.textContent = said;
    box.setAttribute("aria-valuenow", Math.round(now - begin));
    box.setAttribute("aria-valuetext", said);
  };
  box.addEventListener("pointermove", (event) => {
    const svg = event.target.closest("svg");
    if (!svg) return;
    const place = svg.getBoundingClientRect();
    const x = ((event.clientX - place.left) / place.width) * WIDTH;
    show(begin + ((x - LEFT) / (WIDTH - LEFT - RIGHT)) * (end - begin));
  });
  const step = (end - begin) / 100;
  box.addEventListener("keydown", (event) => {
    const later = run.marks.find((m) => m[0] > now), earlier = run.marks.filter((m) => m[0] < now).pop();
    switch (event.key) {
      case "ArrowRight": case "ArrowUp": show(now + step); break;
      case "ArrowLeft": case "ArrowDown": show(now - step); break;
      case "Home": show(begin); break;
      case "End": show(end); break;
      case "PageDown": show(later ? later[0] : end); break;
      case "PageUp": show(earlier ? earlier[0] : begin); break;
      default: return;
    }
    event.preventDefault();
  });
}

function table(parent, caption, heads, rows) {
  const made = element(element(parent, "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }),
                       "table");
  element(made, "caption", {}, caption);
  const head = element(element(made, "thead"), "tr");
  heads.forEach((words, i) => element(head, "th", { scope: "col", class: i === 0 ? "text" : "" }, words));
  const body = element(made, "tbody");
  for (const row of rows) {
    const line = element(body, "tr");
    row.forEach((words, i) => element(line, "td", { class: i === 0 || words.length > 24 ? "text" : "" }, words));
  }
}

const MOST_ROWS = 200;

function evenly(rows) {
  const step = Math.max(1, Math.ceil(rows.length / MOST_ROWS));
  return rows.filter((_, i) => i % step === 0 || i + 1 === rows.length);
}

function addTables(parent, run) {
  const part = element(parent, "details", { class: "screen-only" });
  element(part, "summary", {}, "The data as tables");
  part.addEventListener("toggle", () => {
    if (!part.open || part.children.length > 1) return;
    const looks = evenly(run.usage).map((u) => {
      const place = rowAt(run.cpu, u[0]), sample = rowAt(run.samples, u[0]), growth = rowAt(run.growth, u[0]);
      return [moment(u[0]), sample ? plain(sample[1]) : "--", growth ? perSecond(growth[1]) : "--",
              place ? place[1] : "--", place ? percent(place[2]) : "--", percent(u[1]), bytes(u[2]), rate(u[3])];
    });
    table(part, `${run.name}: samples, ${looks.length} of ${run.usage.length}`,
          ["Time", run.metric || "Metric", "Growth", "List", "Limit", "CPU", "Memory", "Block I/O"], looks);
    const marks = evenly(run.marks).map((m) => [moment(m[0]), m[1] || "host", m[2], m[3], m[4]]);
    table(part, `${run.name}: changes, ${marks.length} of ${run.marks.length + run.marks_left_out}`,
          ["Time", "About", "From", "To", "Reason"], marks);
  });
}

function addRun(parent, run, isOpen) {
  const card = element(parent, "details", { class: "card run", id: "run-" + run.id.slice(0, 12) });
  const head = element(card, "summary");
  element(head, "h3", {}, run.name || run.id.slice(0, 12));
  element(head, "span", { class: "quiet" },
          `  ${run.image}, ${moment(run.started)} to ${isNumber(run.finished) ? moment(run.finished) : "now"}`);
  const draw = () => {
    if (card.children.length > 1) return;
    const box = element(card, "div", {
      class: "charts", tabindex: 0, role: "slider", "aria-label": `${run.name}: a moment in its charts`,
      "aria-valuemin": 0, "aria-valuemax": Math.max(Math.round(endOf(run) - beginOf(run)), 1),
      "aria-valuenow": 0, "aria-valuetext": "arrow keys move through time, Page Up and Down through decisions",
    });
    const charts = drawCharts(box, run);
    const readout = element(card, "p", { class: "readout" },
                            "Point at the charts, or focus them and use the arrow keys; Page Up and Down go " +
                            "from decision to decision.");
    listen(box, run, charts, readout);
    addTables(card, run);
  };
  card.addEventListener("toggle", () => { if (card.open) draw(); });
  if (isOpen) { card.open = true; draw(); }
  return { card, draw };
}

// --- all of them

// One line a thing: { name, begin, end, bands, moves }.
function addTimeline(parent, lines, looks, title, label) {
  const begin = Math.min(...lines.map((line) => line.begin)), end = Math.max(...lines.map((line) => line.end));
  const row = 20, most = Math.floor(LEFT / 7);
  const chart = new Chart(parent, begin, end, row * lines.length, title, label);
  lines.forEach((line, i) => {
    const name = element(chart.svg, "text", { x: LEFT - 6, y: i * row + 14, "text-anchor": "end" },
                         line.name.length > most ? line.name.slice(0, most - 1) + "…" : line.name);
    element(name, "title", {}, line.name);
    const from = chart.x(line.begin), to = chart.x(line.end);
    element(chart.svg, "rect", { class: "axis", x: from, y: i * row + 2, width: Math.max(to - from, 1), height: row - 5 });
    chart.bands(line.bands, line.end, i * row + 2, row - 5, looks);
    for (const move of line.moves) {
      const x = chart.x(move.time);
      const mark = element(chart.svg, "line", { class: "move", x1: x, x2: x, y1: i * row, y2: i * row + row });
      element(mark, "title", {}, move.words);
    }
  });
  chart.times();
}

function jobLine(job) {
  const end = isNumber(job.ended) ? job.ended : data.made;
  return { name: job.name, begin: Math.max(data.since, job.steps[0][0]), end, bands: job.steps, moves: [] };
}

const OPEN_AT_FIRST = 8;
const root = document.getElementById("charts");
const jobs = document.getElementById("jobs"), lines = data.jobs.filter((job) => job.steps.length > 0).map(jobLine);
if (jobs && lines.length > 0) {
  addTimeline(element(jobs, "div", { class: "card" }), lines, STATES, "State of each job",
              `states of ${lines.length} jobs over time; the table above has their ends`);
}
if (root && data.runs.length > 0) {
  const runs = data.runs.map((run) => ({
    name: run.name, begin: beginOf(run), end: endOf(run), bands: run.cpu, moves: movesOf(run),
  }));
  addTimeline(element(root, "div", { class: "card" }), runs, LISTS, "List of each container",
              `lists of ${runs.length} containers over time; the table above has their ends`);
  const parts = data.runs.map((run, i) => addRun(root, run, i < OPEN_AT_FIRST));
  addEventListener("beforeprint", () => { for (const { card, draw } of parts) { card.open = true; draw(); } });
}
