"use strict";
// Text from files is only ever set as textContent: nothing here makes markup of it.

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name === "class") element.className = value;
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

// ------------------------------------------------------------------ light and dark

function themes() {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const current = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const name = () => { button.textContent = current() === "dark" ? "Light" : "Dark"; };
  try { // a file may have no storage
    const kept = localStorage.getItem("karat-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch { /* the system's choice holds */ }
  button.addEventListener("click", () => {
    root.dataset.theme = current() === "dark" ? "light" : "dark";
    try { localStorage.setItem("karat-theme", root.dataset.theme); } catch { /* not kept */ }
    name();
  });
  dark.addEventListener("change", name);
  name();
  button.hidden = false;
}

// ------------------------------------------------------------------ compressed blocks

async function decoded(block) {
  const letters = atob(block.textContent);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}
