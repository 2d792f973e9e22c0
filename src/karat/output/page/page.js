const WORDS = { f: "found", n: "near", m: "missed", o: "other", d: "dropped" };
const SAID = { found: "found", near: "nearly found", missed: "missed", other: "no reference", dropped: "dropped by the protocol" };
const CLASSES = { P: "present", R: "reordered", M: "mixed", U: "unseen" };
const PARTS = ["first", "second", "third", "fourth", "last"];
const RANK = { found: 0, near: 1, missed: 2, shared: 3 };
const ROW = 56; // pixels, as in the style
const LONGEST = 160; // letters of a phrase that are shown at once
const KEPT = 12; // chunks that stay decoded

const DRAWING = "http://www.w3.org/2000/svg";

// The colour and shape by which a system is known.
function symbol(index, system) {
  const [colour, path] = index.marks[system];
  const drawn = document.createElementNS(DRAWING, "svg");
  for (const [name, value] of [["class", "symbol"], ["viewBox", "-7 -7 14 14"], ["aria-hidden", "true"]]) drawn.setAttribute(name, value);
  const shape = document.createElementNS(DRAWING, "path");
  shape.setAttribute("d", path);
  shape.setAttribute("fill", colour);
  drawn.append(shape);
  return drawn;
}

const percent = (share) => `${(100 * share).toFixed(1).replace(/\.0$/, "")} %`;
const shown = (value) => (value === null || value === undefined ? "–" : value.toFixed(4).replace(/^0\./, "."));

// ------------------------------------------------------------------ tables

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const given = [...body.rows];
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v !== undefined ? Number(cell.dataset.v) : null;
  };
  heads.forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    const numeric = given.some((row) => key(row, column) !== null);
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      const first = numeric ? "descending" : "ascending";
      const other = numeric ? "ascending" : "descending";
      const now = was === first ? other : was === other ? null : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      if (now) head.setAttribute("aria-sort", now);
      const sign = now === "descending" ? -1 : 1;
      const rows = now === null ? given : [...given].sort((a, b) => {
        if (!numeric) return sign * a.cells[column].textContent.localeCompare(b.cells[column].textContent, "en");
        const [x, y] = [key(a, column), key(b, column)];
        if (x === null || y === null) return (x === null) - (y === null); // what is undefined stands last
        return sign * (x - y);
      });
      body.append(...rows);
    });
  });
}

// One cell of a table is a stop of the tab key; the arrow keys go on from it, and the interval is shown.
function walkable(table) {
  const cells = () => [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td.n")]);
  const first = table.querySelector("tbody td.n");
  if (!first || !table.querySelector(".interval")) return;
  first.tabIndex = 0;
  table.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const cell = event.target.closest("td.n");
    if (!step || !cell) return;
    const grid = cells();
    const row = grid.findIndex((each) => each.includes(cell));
    const next = (grid[row + step[0]] || [])[grid[row].indexOf(cell) + step[1]];
    if (next) {
      event.preventDefault();
      table.querySelectorAll("td[tabindex]").forEach((each) => each.removeAttribute("tabindex"));
      next.tabIndex = 0;
      next.focus();
    }
  });
}

// ------------------------------------------------------------------ chunks of documents

function chunksOf(part, size) {
  const blocks = [...document.querySelectorAll(`script[data-part="${part}"][data-chunk]`)];
  const held = new Map(); // the last ones used come last
  const chunk = async (number) => {
    const known = held.get(number) || decoded(blocks[number]);
    held.delete(number);
    held.set(number, known);
    if (held.size > KEPT) held.delete(held.keys().next().value);
    return known;
  };
  return {
    count: blocks.length,
    chunk,
    passing: (number) => held.get(number) || decoded(blocks[number]), // not kept: a search reads them all
    record: async (n) => (await chunk(Math.floor(n / size)))[n % size],
  };
}

// ------------------------------------------------------------------ a document

function phrase(text) {
  if (text.length <= LONGEST + 20) return make("bdi", {}, text);
  return make("details", { class: "long" },
    make("summary", {}, make("bdi", {}, `${text.slice(0, LONGEST)}…`)), make("bdi", {}, text.slice(LONGEST)));
}

const sign = (state) => make("span", { class: `sign ${state}` }, make("span", { class: "unseen" }, `${SAID[state]}: `));

// What becomes of each reference: by one system, or the best that any system makes of it.
function statesOf(record, system) {
  const [, , references, answers] = record;
  const chosen = system === null ? answers : [answers[system]];
  return references.map((_, r) => chosen.map(([states]) => WORDS[states[r]]).reduce((a, b) => (RANK[a] <= RANK[b] ? a : b)));
}

function spansOf(record, system, where) {
  const [, places, references, answers] = record;
  const spans = [];
  const add = (place, state) => {
    const flat = places[place] ? places[place][where] : [];
    for (let i = 0; i < flat.length; i += 2) spans.push([flat[i], flat[i + 1], state]);
  };
  const states = statesOf(record, system);
  references.forEach(([, , own], r) => own.forEach((place) => add(place, states[r])));
  const chosen = system === null ? answers : [answers[system]];
  const predicted = new Set(chosen.flatMap(([, predictions]) => predictions.filter((p) => p[1] !== "d" && p[3] >= 0).map((p) => p[3])));
  predicted.forEach((place) => add(place, null));
  // Without references: what all systems give.
  const shared = chosen.flatMap(([, predictions]) => predictions.filter((p) => p[3] >= 0 && p[4] && p[4].length === answers.length - 1).map((p) => p[3]));
  new Set(shared).forEach((place) => add(place, "shared"));
  return spans;
}

// A text cut where a span begins or ends; of references the best state is told.
function pieces(text, spans) {
  const cuts = [...new Set([0, text.length, ...spans.flatMap(([start, end]) => [start, end])])].sort((a, b) => a - b);
  const found = [];
  for (let i = 0; i + 1 < cuts.length; i += 1) {
    const over = spans.filter(([start, end]) => start <= cuts[i] && cuts[i + 1] <= end);
    const states = over.filter((span) => span[2] !== null);
    const classes = [];
    if (states.length) classes.push(states.map((span) => span[2]).reduce((a, b) => (RANK[a] <= RANK[b] ? a : b)));
    if (over.length > states.length) classes.push("predicted");
    if (states.some((span) => span[1] === cuts[i + 1])) classes.push("ends");
    const piece = text.slice(cuts[i], cuts[i + 1]);
    found.push(classes.length ? make("mark", { class: classes.join(" ") }, piece) : piece);
  }
  return found;
}

function listOfPhrases(items, tag) {
  return make(tag, { class: "phrases" }, ...items.map(([state, text, below]) =>
    make("li", {}, sign(state), phrase(text), ...(below || []))));
}

// Systems, each by its shape, and what they do with a phrase.
function finders(index, found, what) {
  if (!found.length) return "";
  const names = found.map((s) => index.systems[s].slice(0, 60)).join(", ");
  return make("span", { class: "finders", title: `${what} ${names}` },
    make("span", { class: "unseen" }, `, ${what} ${names}`), ...found.map((s) => symbol(index, s)));
}

function documentView(index, n, record, system) {
  const [text, , references, answers] = record;
  const title = index.titles[n];
  const states = statesOf(record, system);
  const columns = [];
  if (references.length) {
    const items = references.map(([variants, prmu], r) => [states[r], variants.join(" / "), [
      prmu ? make("small", {}, ` ${CLASSES[prmu]}`) : "", system === null && answers.length > 1 ? finders(index, answers.map(([own], s) => (own[r] === "f" ? s : -1)).filter((s) => s >= 0), "found by") : ""]]);
    columns.push(make("div", { class: "wanted" }, make("h4", {}, "References"), listOfPhrases(items, "ul")));
  }
  index.systems.forEach((name, s) => {
    if (system !== null && s !== system) return;
    const items = answers[s][1].map(([own, fate, prmu, , also]) => [WORDS[fate], own, [
      prmu && prmu !== "P" ? make("small", {}, ` ${CLASSES[prmu]}`) : "", finders(index, also || [], "also given by")]]);
    const score = index.scores[s] ? make("b", {}, make("span", { class: "unseen" }, ", score "), shown(index.scores[s][n])) : "";
    columns.push(make("div", {}, make("h4", {}, symbol(index, s), phrase(name), score),
      items.length ? listOfPhrases(items, "ol") : make("p", { class: "nothing" }, "No predictions.")));
  });
  return make("article", { class: "document" },
    make("h3", { id: "document-title" }, make("bdi", {}, ...(title ? pieces(title, spansOf(record, system, 0)) : [index.ids[n]]))),
    make("p", { class: "id" }, "Document ", make("bdi", {}, index.ids[n])),
    text ? make("p", { class: "text", dir: "auto" }, ...pieces(text, spansOf(record, system, 1))) : null,
    make("div", { class: "columns" }, ...columns),
    index.metric && references.length ? make("p", { class: "small" }, `Beside each system: ${index.metric}.`) : null,
    !references.length && index.agreement.length && index.agreement[n] !== null
      ? make("p", { class: "small" }, `Of the phrases that two systems give here, both give ${percent(index.agreement[n])} in the mean of all pairs (Hooper).`) : null);
}

// ------------------------------------------------------------------ the browser of documents

function choice(text, options, change) {
  const select = make("select", {}, ...options.map(([value, name]) => make("option", { value }, name)));
  select.addEventListener("change", change);
  return { select, field: make("label", {}, text, select) };
}

// The score of a document by which it is sorted: of one system, or the mean of all that have one.
function scoreOf(index, n, system) {
  if (system !== null) return index.scores[system] ? index.scores[system][n] : null;
  const known = index.scores.map((own) => own[n]).filter((value) => value !== null);
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
}

function spreadOf(index, n) {
  const known = index.scores.map((own) => own[n]).filter((value) => value !== null);
  return known.length > 1 ? Math.max(...known) - Math.min(...known) : null;
}

function ordered(index, numbers, how, system) {
  if (how === "given") return numbers;
  if (how === "instructive") {
    const among = new Set(numbers);
    return index.order.filter((n) => among.has(n));
  }
  const agreed = how === "unlike" || how === "alike";
  const turned = (how === "worst" || how === "unlike" ? 1 : -1) * (index.lower && how !== "apart" && !agreed ? -1 : 1);
  const key = numbers.map((n) => (agreed ? index.agreement[n] : how === "apart" ? spreadOf(index, n) : scoreOf(index, n, system)));
  return numbers.map((n, i) => [n, key[i]]).sort((a, b) => {
    if (a[1] === null || b[1] === null) return (a[1] === null) - (b[1] === null);
    return turned * (a[1] - b[1]) || a[0] - b[0];
  }).map(([n]) => n);
}

function matches(record, query) {
  const [text, , references, answers] = record;
  return text.toLowerCase().includes(query)
    || references.some(([variants]) => variants.some((each) => each.toLowerCase().includes(query)))
    || answers.some(([, predictions]) => predictions.some(([each]) => each.toLowerCase().includes(query)));
}

const KEYS = [
  ["j", "next document"], ["k", "previous document"], ["/", "search"], ["?", "these keys"],
  ["↑ ↓", "in the list: the next one up or down"], ["Page ↑ ↓", "in the list: a page up or down"], ["Home End", "in the list: its first or last one"],
  ["← → ↑ ↓", "in a table with intervals: from cell to cell"], ["Esc", "close this"],
];

// A panel that lists the keys of the page.
function keys() {
  const close = make("button", { type: "button" }, "Close");
  const listed = KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)]);
  const panel = make("dialog", { class: "keys", "aria-labelledby": "h-keys" }, make("h3", { id: "h-keys" }, "Keys"), make("dl", {}, ...listed), close);
  close.addEventListener("click", () => panel.close());
  return panel;
}

function browser(indices) {
  const place = document.getElementById("browser");
  let index = indices[0];
  let stores = indices.map((each, part) => chunksOf(part, each.size));
  let listed = []; // numbers of the documents that are listed, in order
  let current = null; // number of the one that is shown
  let turn = 0; // of the search: a later one ends an earlier one
  let opening = 0;
  let only = null; // the documents that the page led to, as a set
  let led = null; // by which of its lists

  const kept = history.state && typeof history.state.filters === "string" ? history.state : null; // of an earlier loading

  const search = make("input", { type: "search", autocomplete: "off", spellcheck: false });
  const corpus = choice("Corpus", indices.map((each, i) => [String(i), each.corpus.slice(0, 60)]), () => { settle(indices[Number(corpus.select.value)]); });
  const whose = choice("System", [], () => { refresh(); redraw(); });
  const order = choice("Order", [], () => refresh());
  const missed = choice("Missed references", [], () => refresh());
  const part = choice("Missed in the part", [], () => refresh());
  const told = make("span", {});
  const all = make("button", { type: "button" }, "All documents");
  const narrowed = make("div", { class: "only", hidden: true }, told, all);
  const status = make("div", { class: "status", role: "status", "aria-live": "polite" });
  const link = make("a", { class: "link", hidden: true, href: "#documents" }, "Link to this list");
  const help = keys();
  const helps = make("button", { type: "button" }, "Keys", make("kbd", { "aria-hidden": "true" }, "?"));
  const inner = make("div", { role: "presentation" });
  const rows = make("div", { class: "rows", role: "listbox", tabIndex: 0, "aria-label": "Documents" }, inner);
  const view = make("div", { class: "view", tabIndex: 0, role: "region", "aria-label": "Document" });
  const before = make("button", { type: "button" }, "Previous", make("kbd", { "aria-hidden": "true" }, "k"));
  const after = make("button", { type: "button" }, "Next", make("kbd", { "aria-hidden": "true" }, "j"));
  const where = make("span", {});
  const shownDocument = make("div", {});
  view.append(make("div", { class: "steps" }, before, after, where, helps), shownDocument);
  place.append(
    make("div", { class: "controls", role: "search", "aria-label": "Documents" },
      make("label", { class: "search" }, "Search ids, titles, texts and phrases", search),
      indices.length > 1 ? corpus.field : "", whose.field, order.field, missed.field, part.field, narrowed),
    make("div", { class: "panes" }, make("div", { class: "list" }, status, link, rows), view), help);

  const system = () => (whose.select.value === "" ? null : Number(whose.select.value));
  const store = () => stores[indices.indexOf(index)];

  function fill(select, options) {
    select.replaceChildren(...options.map(([value, name]) => make("option", { value }, name)));
  }

  // What the list is searched, filtered and sorted by, as far as that was chosen; systems by their names.
  const fields = { search, system: whose.select, order: order.select, missed: missed.select, part: part.select };
  const usual = (field) => (field === search ? "" : field.options[0].value);

  function filters() {
    const found = new URLSearchParams();
    for (const [name, field] of Object.entries(fields)) {
      const value = field.value.trim();
      if (value !== usual(field)) found.set(name, name === "system" ? index.systems[Number(value)] : value);
    }
    if (led !== null) found.set("led", led);
    return String(found);
  }

  function restore(text) {
    const given = new URLSearchParams(text);
    for (const [name, field] of Object.entries(fields)) {
      const value = name === "system" ? String(index.systems.indexOf(given.get(name))) : given.get(name);
      if (given.has(name) && (field === search || [...field.options].some((each) => each.value === value))) field.value = value;
    }
    const from = [...document.querySelectorAll("a.leads")].find((each) => each.dataset.corpus === index.corpus && each.dataset.list === given.get("led"));
    if (from) limit(from);
  }

  // Keeps the filters for when the page is loaded again, and makes an address of them that can be passed on.
  function remember() {
    const text = filters();
    history.replaceState({ corpus: index.corpus, filters: text }, "");
    link.hidden = !text;
    link.href = `#list/${encodeURIComponent(index.corpus)}/${encodeURIComponent(text)}`;
  }

  function settle(chosen, wanted, kept) {
    index = chosen;
    corpus.select.value = String(indices.indexOf(index));
    const several = index.systems.length > 1;
    fill(whose.select, [...(several ? [["", "all systems"]] : []), ...index.systems.map((name, s) => [String(s), name.slice(0, 60)])]);
    whose.field.hidden = !several;
    fill(order.select, [
      ...(index.order.length ? [["instructive", "most instructive first"]] : []),
      ...(index.metric ? [["worst", "worst first"], ["best", "best first"]] : []),
      ...(index.metric && several ? [["apart", "largest disagreement first"]] : []),
      ...(index.metric ? [] : [["given", "as in the corpus"]]),
      ...(index.agreement.length ? [["unlike", "least agreement first"], ["alike", "most agreement first"]] : []),
      ...(index.metric ? [["given", "as in the corpus"]] : [])]);
    fill(missed.select, [["-1", "any or none"], ...Object.entries(CLASSES).map(([mark, name], i) => [String(i), `${name} (${mark})`])]);
    fill(part.select, [["-1", "any"], ...PARTS.map((name, i) => [String(4 + i), `${name} fifth`])]);
    const classed = index.flags.some((own) => own.some((flag) => flag));
    missed.field.hidden = part.field.hidden = !index.metric || !classed;
    search.value = "";
    current = null;
    limit(null);
    if (kept) restore(kept);
    refresh().then(() => { if (current === null && listed.length) open(listed[0], false); });
    const first = wanted === undefined ? listed[0] : wanted;
    if (first !== undefined) open(first, wanted !== undefined);
  }

  // Shows the documents alone that a number of the page leads to, and says which these are; without one, all.
  function limit(from) {
    led = from === null ? null : from.dataset.list;
    only = from === null ? null : new Set(index.lists[Number(led)]);
    told.textContent = from === null ? "" : from.dataset.told;
    narrowed.hidden = only === null;
  }

  function lead(from) {
    const chosen = indices.find((each) => each.corpus === from.dataset.corpus);
    if (!chosen) return;
    if (chosen !== index) settle(chosen);
    search.value = "";
    [missed.select, part.select].forEach((select) => { select.value = "-1"; });
    limit(from);
    refresh();
    if (listed.length) open(listed[0], false);
    place.scrollIntoView();
    rows.focus({ preventScroll: true });
  }

  // The documents that pass the filters, in order; those that a search finds come as it goes on.
  async function refresh() {
    turn += 1;
    const mine = turn;
    remember();
    const query = search.value.trim().toLowerCase();
    const bits = [missed.select, part.select].map((select) => Number(select.value)).filter((bit) => bit >= 0);
    const own = system() === null ? index.flags : [index.flags[system()]];
    const all = index.ids.map((_, n) => n).filter((n) => (only === null || only.has(n)) && bits.every((bit) => own.some((flags) => flags[n] & (1 << bit))));
    const order_ = order.select.value;
    if (!query) {
      list(ordered(index, all, order_, system()));
      status.textContent = listed.length === index.ids.length ? counted(listed.length, "document") : `${counted(listed.length, "document")} of ${index.ids.length.toLocaleString("en")}`;
      return;
    }
    const found = new Set(all.filter((n) => index.ids[n].toLowerCase().includes(query) || index.titles[n].toLowerCase().includes(query)));
    list(ordered(index, [...found].sort((a, b) => a - b), order_, system()));
    const progress = make("progress", { max: store().count, value: 0, "aria-label": "Searching texts" });
    status.replaceChildren("Searching texts…", progress);
    let painted = performance.now();
    for (let chunk = 0; chunk < store().count; chunk += 1) {
      const records = await store().passing(chunk);
      if (mine !== turn) return;
      const start = chunk * index.size;
      for (const n of all) {
        if (n >= start && n < start + index.size && !found.has(n) && matches(records[n - start], query)) found.add(n);
      }
      progress.value = chunk + 1;
      if (performance.now() - painted > 150) {
        list(ordered(index, [...found].sort((a, b) => a - b), order_, system()));
        await new Promise((done) => setTimeout(done));
        if (mine !== turn) return;
        painted = performance.now();
      }
    }
    list(ordered(index, [...found].sort((a, b) => a - b), order_, system()));
    status.textContent = `${counted(listed.length, "document")} found`;
  }

  function list(numbers) {
    listed = numbers;
    inner.style.height = `${numbers.length * ROW}px`;
    rows.hidden = numbers.length === 0;
    paint();
    step();
  }

  // Only the rows that can be seen are in the page.
  function paint() {
    const first = Math.max(0, Math.floor(rows.scrollTop / ROW) - 4);
    const last = Math.min(listed.length, Math.ceil((rows.scrollTop + rows.clientHeight) / ROW) + 4);
    const made = [];
    for (let i = first; i < last; i += 1) {
      const n = listed[i];
      const title = index.titles[n].slice(0, 200);
      const id = index.ids[n].slice(0, 200);
      const row = make("div", { class: "row", role: "option", id: `row-${n}`, "aria-selected": String(n === current), "aria-posinset": i + 1, "aria-setsize": listed.length },
        make("span", { class: "who" }, make("bdi", {}, id)),
        index.metric ? make("span", { class: "score" }, shown(scoreOf(index, n, system())))
          : index.agreement.length ? make("span", { class: "score" }, index.agreement[n] === null ? "–" : percent(index.agreement[n])) : "",
        title ? make("span", { class: "what" }, make("bdi", {}, title)) : "");
      row.style.top = `${i * ROW}px`;
      row.addEventListener("click", () => open(n, true));
      made.push(row);
    }
    inner.replaceChildren(...made);
    const at = listed.indexOf(current);
    if (at >= first && at < last) rows.setAttribute("aria-activedescendant", `row-${current}`);
    else rows.removeAttribute("aria-activedescendant");
  }

  function step() {
    const at = listed.indexOf(current);
    before.disabled = at <= 0;
    after.disabled = listed.length === 0 || at === listed.length - 1;
    where.textContent = at >= 0 ? `${(at + 1).toLocaleString("en")} of ${listed.length.toLocaleString("en")}` : "";
  }

  async function redraw() {
    if (current === null) return;
    opening += 1;
    const mine = opening;
    const n = current;
    const record = await store().record(n);
    if (mine !== opening) return;
    shownDocument.replaceChildren(documentView(index, n, record, system()));
    view.scrollTop = 0;
  }

  const address = (n) => `#doc/${encodeURIComponent(index.corpus)}/${encodeURIComponent(index.ids[n])}`;

  function open(n, told) {
    current = n;
    if (told) history.replaceState(history.state, "", address(n));
    const at = listed.indexOf(n);
    if (at >= 0) {
      const top = at * ROW;
      if (top < rows.scrollTop) rows.scrollTop = top;
      else if (top + ROW > rows.scrollTop + rows.clientHeight) rows.scrollTop = top + ROW - rows.clientHeight;
    }
    paint();
    step();
    redraw();
  }

  function move(by) {
    const at = listed.indexOf(current);
    const next = listed[at < 0 ? 0 : at + by];
    if (next !== undefined) open(next, true);
  }

  function follow() {
    const [kind, name, id] = location.hash.slice(1).split("/");
    if ((kind !== "doc" && kind !== "list") || id === undefined) return false;
    try {
      const chosen = indices.find((each) => each.corpus === decodeURIComponent(name));
      if (kind === "list" && chosen) {
        settle(chosen, undefined, decodeURIComponent(id));
        document.getElementById("documents").scrollIntoView();
        return true;
      }
      const n = chosen ? chosen.ids.indexOf(decodeURIComponent(id)) : -1;
      if (n < 0) return false;
      if (chosen !== index || current === null) settle(chosen, n, kept && kept.corpus === chosen.corpus ? kept.filters : "");
      else open(n, false);
      document.getElementById("documents").scrollIntoView();
      return true;
    } catch { // no address of ours
      return false;
    }
  }

  document.querySelectorAll("a.leads").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    lead(link);
  }));
  all.addEventListener("click", () => { limit(null); refresh(); rows.focus(); });
  helps.addEventListener("click", () => help.showModal());
  let waiting;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 200); });
  rows.addEventListener("scroll", paint, { passive: true });
  new ResizeObserver(paint).observe(rows);
  before.addEventListener("click", () => move(-1));
  after.addEventListener("click", () => move(1));
  rows.addEventListener("keydown", (event) => {
    const far = Math.max(1, Math.floor(rows.clientHeight / ROW) - 1);
    const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -far, PageDown: far }[event.key];
    const at = listed.indexOf(current);
    if (by) move(Math.max(-at, Math.min(by, listed.length - 1 - at)));
    else if (event.key === "Home") open(listed[0], true);
    else if (event.key === "End") open(listed[listed.length - 1], true);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (help.open) return;
    if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "?") help.showModal();
    else if (event.key === "/") {
      event.preventDefault();
      search.focus();
    }
  });
  addEventListener("hashchange", follow);
  place.hidden = false;
  document.getElementById("without-script").remove();
  if (!follow()) {
    const before_ = kept && indices.find((each) => each.corpus === kept.corpus);
    settle(before_ || indices[0], undefined, before_ ? kept.filters : "");
  }
}

async function start() {
  themes();
  document.querySelectorAll("table.sortable").forEach((table) => { sortable(table); walkable(table); });
  const blocks = [...document.querySelectorAll("script.index")];
  if (!blocks.length || !("DecompressionStream" in window)) return; // the documents that stand there stay
  browser(await Promise.all(blocks.map(decoded)));
}

start();
