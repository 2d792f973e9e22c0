// ------------------------------------------------------------------ answers in the browser

const IDLE = 180; // seconds after which a reader who does nothing is taken to be away

// Browsers write localStorage to disk some seconds later, and IndexedDB at once: what a crash took from the one is in
// the other. It is never read while the page is open.
function journalOf(prefix) {
  const opened = new Promise((resolve) => {
    try {
      const request = indexedDB.open("karat-annotation", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("records");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
    } catch { resolve(null); }
  });
  const ended = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); request.onerror = () => resolve([]); });
  const put = async (id, record) => {
    const journal = await opened;
    if (journal === null) return;
    try {
      const change = journal.transaction("records", "readwrite", { durability: "strict" });
      change.objectStore("records").put(record, prefix + id);
      change.commit(); // at once: a reload aborts a transaction that waits for its commit
    } catch { /* localStorage has it */ }
  };
  const all = async () => {
    const journal = await opened;
    if (journal === null) return [];
    try {
      const records = journal.transaction("records").objectStore("records");
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      const [keys, values] = await Promise.all([ended(records.getAllKeys(range)), ended(records.getAll(range))]);
      return keys.map((key, n) => [key.slice(prefix.length), values[n]]);
    } catch { return []; }
  };
  return { put, all };
}

// Every item has a key of its own, and a record says when it was written: tabs of one sheet never write over another
// item's answer, the newest record of an item is the one that counts, and what a tab shows is read anew each time.
function recordsOf(study, annotator, valid, complain) {
  const prefix = `karat-annotation:${study}:${annotator}:`;
  const journal = journalOf(prefix);
  const own = new Map(); // what this tab wrote, for browsers that keep nothing
  const parsed = (text) => {
    try { const found = JSON.parse(text); return valid(found) ? found : null; } catch { return null; }
  };
  const stored = (id) => {
    try { return parsed(localStorage.getItem(prefix + id)); } catch { return null; }
  };
  const read = (id) => {
    const there = stored(id);
    const mine = own.get(id) || null;
    return mine && (!there || mine.at > there.at) ? mine : there;
  };
  const write = (id, record) => {
    const text = JSON.stringify(record);
    own.set(id, record);
    journal.put(id, record);
    try {
      localStorage.setItem(prefix + id, text);
      if (localStorage.getItem(prefix + id) !== text) throw new Error("not kept");
      return true;
    } catch {
      complain();
      return false;
    }
  };
  const restore = async () => {
    for (const [key, record] of await journal.all()) {
      const id = Number(key);
      const here = read(id);
      if (valid(record) && (here === null || here.at < record.at)) write(id, record);
    }
  };
  const note = (name, text) => { try { localStorage.setItem(prefix + name, text); } catch { complain(); } };
  const noted = (name) => { try { return localStorage.getItem(prefix + name); } catch { return null; } };
  return { read, write, restore, note, noted, prefix };
}

// Seconds that somebody is at the page: not those in which it is hidden, nor more than IDLE without a sign of life.
function clock() {
  let last = performance.now();
  let spent = 0;
  let here = !document.hidden;
  const touch = () => {
    const now = performance.now();
    if (here) spent += Math.min((now - last) / 1000, IDLE);
    last = now;
    here = !document.hidden;
  };
  for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) addEventListener(sign, touch, { passive: true, capture: true });
  document.addEventListener("visibilitychange", touch);
  return () => { touch(); const found = spent; spent = 0; return found; };
}

// ------------------------------------------------------------------ what an answer is

const isText = (value, most) => typeof value === "string" && value.length <= most;
const isList = (value) => Array.isArray(value) && value.length <= 1000;

function answersOf(data) {
  const values = new Set(data.scale.map((step) => step.value));
  const isChoice = (value) => value !== null && typeof value === "object" && typeof value.done === "boolean" && isList(value.chosen)
    && value.chosen.every(Number.isInteger) && isList(value.added) && value.added.every((each) => isText(each, 1000));
  const isAnswer = data.task === "reference" ? isChoice : (value) => values.has(value);
  const valid = (record) => record !== null && typeof record === "object" && (record.answer === null || isAnswer(record.answer))
    && isText(record.comment, 100000) && Number.isFinite(record.seconds) && record.seconds >= 0 && Number.isFinite(record.at) && record.at >= 0;
  const given = (record) => record !== null && record.answer !== null && (data.task !== "reference" || record.answer.done);
  return { valid, given };
}

const byId = (id) => document.getElementById(id);
const tidy = (text) => text.replace(/\s+/gu, " ").trim();
const same = (a, b) => tidy(a).toLowerCase() === tidy(b).toLowerCase();

// ------------------------------------------------------------------ a text with the places of phrases

function markedText(text, phrases) {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [text]; // letters whose small form is longer: places would be wrong
  const found = [];
  for (const phrase of phrases) {
    const needle = tidy(phrase).toLowerCase();
    for (let at = needle.length > 1 ? lower.indexOf(needle) : -1; at >= 0; at = lower.indexOf(needle, at + needle.length)) found.push([at, at + needle.length]);
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const pieces = [];
  let end = 0;
  for (const [from, to] of found) {
    if (from < end) continue;
    pieces.push(text.slice(end, from), make("mark", {}, text.slice(from, to)));
    end = to;
  }
  return [...pieces, text.slice(end)];
}

// ------------------------------------------------------------------ the sheet

class Sheet {
  constructor(data) {
    this.data = data;
    const { valid, given } = answersOf(data);
    this.valid = valid;
    this.given = given;
    this.records = recordsOf(data.study, data.annotator, valid, () => this.complain());
    this.clock = clock();
    this.pending = new Map(); // seconds at items that have no record yet
    this.steps = []; // what can be undone in this tab
    this.at = 0;
  }

  get item() { return this.data.items[this.at]; }

  complain() {
    this.unkept = true;
    byId("warning").textContent = "This browser does not keep the answers. Save the file before you close the page, and load it when you come back.";
    byId("warning").hidden = false;
  }

  say(text) { byId("said").textContent = text; }

  // Keeps what changed of an item; the record before it can be brought back.
  keep(id, change, undoable) {
    const before = this.records.read(id);
    this.takeTime();
    const record = {
      answer: before ? before.answer : null,
      comment: before ? before.comment : "",
      seconds: Math.round(((before ? before.seconds : 0) + (this.pending.get(id) || 0)) * 10) / 10,
      at: Math.max(Date.now(), before ? before.at + 1 : 0),
      ...change,
    };
    this.pending.delete(id);
    this.records.write(id, record);
    if (undoable) this.steps.push({ id, before: before ? before.answer : null, wrote: record.answer });
    this.refresh();
  }

  takeTime() {
    const id = this.item.id;
    this.pending.set(id, (this.pending.get(id) || 0) + this.clock());
  }

  answer(value) {
    const step = this.data.scale.find((each) => each.value === value);
    this.keep(this.item.id, { answer: value }, true);
    this.say(`Item ${this.at + 1}: ${step.label}`);
    if (byId("onward").checked) this.toOpen(true);
  }

  // Takes back the last answer of this tab, unless the item has another answer by now.
  undo() {
    const step = this.steps.pop();
    if (step === undefined) return;
    this.go(this.data.items.findIndex((item) => item.id === step.id));
    const now = this.records.read(step.id);
    const unchanged = now !== null && JSON.stringify(now.answer) === JSON.stringify(step.wrote);
    if (unchanged) this.keep(step.id, { answer: step.before }, false);
    else this.refresh();
    this.say(unchanged ? `Item ${this.at + 1}: undone` : `Item ${this.at + 1} was changed elsewhere; nothing undone`);
  }

  // ---------------------------------------------------------------- moving

  go(position) {
    if (position < 0 || position >= this.data.items.length) return;
    this.takeTime();
    this.at = position;
    this.show();
    const { top } = byId("item").getBoundingClientRect(); // the item stays in sight, and does not jump where it is
    if (top < 0 || top > innerHeight / 2) scrollTo({ top: top + scrollY - 8, behavior: "instant" });
  }

  toOpen(after) {
    const { items } = this.data;
    const order = items.map((_, n) => (this.at + n + (after ? 1 : 0)) % items.length);
    const open = order.find((n) => !this.given(this.records.read(items[n].id)));
    if (open !== undefined) this.go(open);
    else if (!after) this.say("No item is open");
  }

  // ---------------------------------------------------------------- showing

  show() {
    const { item, data } = this;
    const [title, text] = data.documents[item.document];
    const phrases = item.phrases || [];
    const which = make("h2", { class: "which", id: "which" }, `Item ${this.at + 1} of ${data.items.length}`);
    const parts = [make("h3", {}, make("bdi", {}, title || "Document without a title"))];
    if (text) parts.push(make("div", { class: "text", dir: "auto" }, ...markedText(text, phrases)));
    byId("item").replaceChildren(which, ...this.judged(), make("section", { class: "document", "aria-label": "Document" }, ...parts));
    byId("comment").value = "";
    this.refresh();
  }

  judged() {
    const { item, data } = this;
    const listed = (name, phrases) => make("div", {}, make("h3", {}, name),
      phrases.length ? make("ul", { class: "phrases" }, ...phrases.map((each) => make("li", {}, make("bdi", {}, each)))) : make("p", { class: "small" }, "none"));
    const given = item.given ? [make("p", { class: "given" }, `Annotators answered: ${item.given.join(", ")}`)] : [];
    if (data.task === "set") return [make("div", { class: "lists" }, listed("Keyphrases", item.predicted), listed("Reference", item.references)), ...given];
    if (data.task !== "reference") return [make("div", { class: "pair" }, ...item.phrases.map((each) => make("p", {}, make("bdi", {}, each)))), ...given];
    const field = make("input", { type: "text", id: "added", autocomplete: "off", "aria-label": "A phrase to add" });
    const button = make("button", { type: "button" }, "Add", make("kbd", {}, "a"));
    button.addEventListener("click", () => this.add());
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") this.add(); });
    return [make("ul", { class: "candidates", id: "candidates", "aria-label": "Phrases" }), make("div", { class: "add" }, field, button)];
  }

  scale() {
    const { data } = this;
    const group = byId("scale");
    group.classList.toggle("few", data.task === "reference" || data.scale.length <= 5);
    if (data.task === "reference") {
      const button = make("button", { type: "button", id: "finish" }, "Done", make("kbd", {}, "d"));
      button.addEventListener("click", () => this.finish());
      group.append(button);
      return;
    }
    for (const step of data.scale) {
      const meaning = data.scale.length <= 5 && step.meaning ? make("small", {}, step.meaning) : "";
      const key = step.key === step.label ? "" : make("kbd", {}, step.key);
      const button = make("button", { type: "button" }, step.label, data.scale.length > 5 ? "" : key, meaning);
      button.dataset.value = step.value;
      button.addEventListener("click", () => this.answer(step.value));
      group.append(button);
    }
  }

  // Draws what answers change, from what is kept: also after another tab has written.
  refresh() {
    const { data, item } = this;
    const record = this.records.read(item.id);
    const given = data.items.map((each) => this.given(this.records.read(each.id)));
    const count = given.filter(Boolean).length;
    byId("progress").value = count;
    byId("count").textContent = `${count} of ${data.items.length} answered`;
    byId("done").hidden = count < data.items.length;
    byId("undo").disabled = this.steps.length === 0;
    byId("back").disabled = this.at === 0;
    byId("next").disabled = this.at === data.items.length - 1;
    if (document.activeElement !== byId("comment")) byId("comment").value = record ? record.comment : "";
    for (const button of byId("scale").querySelectorAll("[data-value]")) {
      button.setAttribute("aria-pressed", String(record !== null && record.answer === Number(button.dataset.value)));
    }
    if (data.task === "reference") this.candidates(record);
    [...byId("all").children].forEach((each, n) => {
      const button = each.firstChild;
      button.classList.toggle("answered", given[n]);
      button.setAttribute("aria-label", `Item ${n + 1}, ${given[n] ? "answered" : "open"}`);
      button.setAttribute("aria-current", String(n === this.at));
    });
    this.kept();
  }

  // How many items have changed since a file was saved.
  changed() {
    const saved = Number(this.records.noted("saved") || 0);
    return this.data.items.map((each) => this.records.read(each.id)).filter((found) => found !== null && found.at > saved).length;
  }

  kept() {
    const saved = this.records.noted("saved");
    const newer = this.changed();
    const where = this.unkept ? "Answers are kept in this page alone." : "Answers are kept in this browser.";
    const since = saved ? `${newer ? counted(newer, "item") : "Nothing"} changed since the last saved file.` : "No file was saved so far.";
    byId("kept").textContent = `${where} ${since}`;
  }

  // ---------------------------------------------------------------- choosing and adding phrases

  chosen() {
    const record = this.records.read(this.item.id);
    return record !== null && record.answer !== null ? record.answer : { chosen: [], added: [], done: false };
  }

  candidates(record) {
    const { chosen, added, done } = record !== null && record.answer !== null ? record.answer : { chosen: [], added: [], done: false };
    const known = this.item.candidates;
    const more = added.filter((each) => !known.some(([key]) => key === each)).map((each) => [each, each]);
    const focused = document.activeElement && document.activeElement.dataset.place;
    const lines = [...known, ...more].map(([key, phrase], n) => {
      const box = make("input", { type: "checkbox", checked: chosen.includes(key) || added.includes(key) });
      box.dataset.place = n;
      box.addEventListener("change", () => this.toggle(key, box.checked));
      return make("li", {}, make("label", {}, box, make("bdi", {}, phrase), n < 9 ? make("kbd", {}, String(n + 1)) : ""));
    });
    byId("candidates").replaceChildren(...lines);
    if (focused !== undefined) byId("candidates").querySelector(`[data-place="${Number(focused)}"]`)?.focus();
    byId("finish").setAttribute("aria-pressed", String(done));
  }

  toggle(key, on) {
    const now = this.chosen();
    const field = typeof key === "number" ? "chosen" : "added";
    const rest = now[field].filter((each) => each !== key);
    this.keep(this.item.id, { answer: { ...now, done: false, [field]: on ? [...rest, key] : rest } }, true);
  }

  add() {
    const phrase = tidy(byId("added").value).slice(0, 1000);
    if (!phrase) return;
    const now = this.chosen();
    const known = this.item.candidates.find(([, shown]) => same(shown, phrase));
    if (known !== undefined) this.toggle(known[0], true);
    else if (!now.added.some((each) => same(each, phrase))) this.keep(this.item.id, { answer: { ...now, done: false, added: [...now.added, phrase] } }, true);
    byId("added").value = "";
    this.say(known === undefined ? `Added: ${phrase}` : `Chosen in the list: ${phrase}`);
  }

  finish() {
    this.keep(this.item.id, { answer: { ...this.chosen(), done: true } }, true);
    this.say(`Item ${this.at + 1} is done`);
    this.toOpen(true);
  }

  // ---------------------------------------------------------------- files

  saved() {
    const { data } = this;
    const answers = {};
    for (const { id } of data.items) {
      const record = this.records.read(id);
      if (record !== null) answers[id] = record;
    }
    return { karat: "annotations", version: 1, study: data.study, task: data.task, annotator: data.annotator, token: data.token, saved: Date.now(), answers };
  }

  save() {
    const found = this.saved();
    const address = URL.createObjectURL(new Blob([`${JSON.stringify(found, null, 1)}\n`], { type: "application/json" }));
    const link = make("a", { href: address, download: `${found.annotator}-${found.study}.json` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    this.records.note("saved", String(found.saved));
    this.say("The file is saved");
    this.kept();
  }

  // Takes over the answers of a saved file that are newer than those here.
  load(text) {
    const { data } = this;
    let found = null;
    try { found = JSON.parse(text); } catch { /* said below */ }
    const wrong = (why) => { byId("warning").textContent = why; byId("warning").hidden = false; };
    if (found === null || typeof found !== "object" || found.karat !== "annotations" || found.version !== 1 || found.answers === null || typeof found.answers !== "object") return wrong("This is not a file that a sheet has saved; nothing was changed.");
    if (found.study !== data.study) return wrong("This file is of another study; nothing was changed.");
    if (found.annotator !== data.annotator || (found.token && found.token !== data.token)) return wrong("This file is of another annotator; nothing was changed.");
    const known = new Set(data.items.map((item) => String(item.id)));
    const entries = Object.entries(found.answers);
    if (!entries.every(([id, record]) => known.has(id) && this.valid(record))) return wrong("This file is damaged, or was edited; nothing was changed.");
    let taken = 0;
    for (const [id, record] of entries) {
      const here = this.records.read(Number(id));
      if (here === null || here.at < record.at) {
        this.records.write(Number(id), { answer: record.answer, comment: record.comment, seconds: record.seconds, at: record.at });
        taken += 1;
      }
    }
    byId("warning").hidden = !this.unkept;
    this.toOpen(false);
    this.show();
    const text_ = `${counted(taken, "answer")} taken from the file; ${entries.length - taken} here were as new or newer.`;
    byId("kept").textContent = text_;
    this.say(text_);
    return undefined;
  }
}

// ------------------------------------------------------------------ keys and buttons

function keyed(sheet, event) {
  const { target } = event;
  const writes = target.matches("input[type=text], textarea");
  if (event.key === "Escape" && writes) { target.blur(); return; }
  const undoes = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === "z" && !writes;
  if (undoes) { event.preventDefault(); sheet.undo(); return; }
  if (writes || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !byId("keys").checked) return;
  const step = sheet.data.task === "reference" ? undefined : sheet.data.scale.find((each) => each.key === event.key);
  const acts = {
    ArrowLeft: () => sheet.go(sheet.at - 1),
    ArrowRight: () => sheet.go(sheet.at + 1),
    o: () => sheet.toOpen(true),
    u: () => sheet.undo(),
    c: () => byId("comment").focus(),
    s: () => sheet.save(),
    ...(sheet.data.task === "reference" ? { d: () => sheet.finish(), a: () => byId("added").focus() } : {}),
  };
  if (sheet.data.task === "reference" && /^[1-9]$/.test(event.key)) {
    byId("candidates").querySelector(`[data-place="${Number(event.key) - 1}"]`)?.click();
  } else if (step !== undefined) sheet.answer(step.value);
  else if (Object.hasOwn(acts, event.key)) acts[event.key]();
  else return;
  event.preventDefault();
}

function wired(sheet) {
  const clicks = { back: () => sheet.go(sheet.at - 1), next: () => sheet.go(sheet.at + 1), open: () => sheet.toOpen(true), undo: () => sheet.undo(), save: () => sheet.save(), load: () => byId("file").click() };
  for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
  byId("file").addEventListener("change", async () => {
    const [file] = byId("file").files;
    if (file) sheet.load(await file.text());
    byId("file").value = "";
  });
  byId("comment").addEventListener("input", () => sheet.keep(sheet.item.id, { comment: byId("comment").value }, false));
  document.addEventListener("keydown", (event) => keyed(sheet, event));
  addEventListener("storage", (event) => { if (event.key === null || event.key.startsWith(sheet.records.prefix)) sheet.refresh(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) sheet.refresh(); });
  addEventListener("beforeunload", (event) => { if (sheet.unkept && sheet.changed()) event.preventDefault(); });
  sheet.data.items.forEach((_, n) => {
    const button = make("button", { type: "button" }, String(n + 1));
    button.addEventListener("click", () => sheet.go(n));
    byId("all").append(make("li", {}, button));
  });
}

async function start() {
  themes();
  if (!("DecompressionStream" in window)) return; // the page says what it needs
  const sheet = new Sheet(await decoded(byId("study")));
  await sheet.records.restore();
  sheet.at = Math.max(0, sheet.data.items.findIndex((item) => !sheet.given(sheet.records.read(item.id))));
  byId("waiting").hidden = true;
  byId("sheet").hidden = false;
  wired(sheet);
  sheet.scale();
  if (sheet.records.noted("seen")) byId("how").open = false;
  sheet.records.note("seen", "1");
  sheet.show();
}

start();
