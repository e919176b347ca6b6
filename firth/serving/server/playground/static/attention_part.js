// The part of `attention`: the pieces of a text in a table, with the shares in which each reads the others.

import { Part, element, field, inWords, textArea } from "./dom.js";
import { ask } from "./server.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Returns the part in which a head of a layer is shown over a text. */
export function attentionPart(model, name, signature) {
  const part = new Part(name, "Attention of a head", signature.meaning);
  const text = textArea(signature.example.text);
  text.required = true;
  const choosers = Object.entries(signature.parameters).map(([key, { least, most }]) => {
    const numbers = Array.from({ length: most - least + 1 }, (_, place) => least + place);
    const options = numbers.map((each) => element("option", { value: each }, String(each)));
    return element("select", { name: key }, ...options);
  });
  part.form.append(
    field("Text", text, signature.inputs.text.meaning),
    ...choosers.map((each) => field(inWords(each.name), each)),
    element("div", { class: "buttons" }, element("button", { type: "submit" }, "Show")),
  );
  part.whenSent(async () => {
    const parameters = Object.fromEntries(choosers.map((each) => [each.name, Number(each.value)]));
    const [{ values, note }] = await ask({ model, signature: name, texts: [text.value], parameters });
    const chosen = choosers.map((each) => `${each.name} ${each.value}`).join(", ");
    part.answer.append(...heatMap(values, `Row reads column, ${chosen}`));
    if (note) part.answer.append(element("p", { class: "note" }, note));
  });
  // Another head of the same text, once one is shown.
  for (const each of choosers) {
    each.addEventListener("change", () => part.answer.childElementCount && part.form.requestSubmit());
  }
  return part;
}

/** Returns the table of shares, whose cells are reached by arrow keys, and the line of the chosen cell. */
function heatMap({ pieces, attention }, caption) {
  const heads = pieces.map((each) => element("th", { scope: "col" }, each));
  const rows = pieces.map((piece, row) => {
    // Other texts of the same batch may be longer.
    const cells = attention[row].slice(0, pieces.length).map((share) => cell(share));
    return element("tr", {}, element("th", { scope: "row" }, piece), ...cells);
  });
  const made = element(
    "table",
    { class: "heat", role: "grid", "aria-readonly": "true" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, element("td", {}), ...heads)),
    element("tbody", {}, ...rows),
  );
  const line = element("p", { class: "lines" });
  const places = rows.map((row) => [...row.querySelectorAll("td")]);
  let [atRow, atColumn] = [0, 0];
  const choose = (row, column) => {
    places[atRow][atColumn].tabIndex = -1;
    [atRow, atColumn] = [row, column];
    places[row][column].tabIndex = 0;
    line.textContent = `${pieces[row]} reads ${pieces[column]}: ${attention[row][column].toFixed(4)}`;
  };
  const placeOf = (target) => {
    const row = places.findIndex((cells) => cells.includes(target));
    return row < 0 ? null : [row, places[row].indexOf(target)];
  };
  made.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const last = pieces.length - 1;
    const [row, column] = [atRow + step[0], atColumn + step[1]].map((each) => Math.min(Math.max(each, 0), last));
    places[row][column].focus();
  });
  made.addEventListener("focusin", ({ target }) => {
    const place = placeOf(target);
    if (place) choose(...place);
  });
  if (pieces.length) choose(0, 0);
  return [element("div", { class: "scroll" }, made), line];
}

function cell(share) {
  const found = element("td", { class: "number", tabindex: -1 }, share.toFixed(2));
  found.style.setProperty("--share", share);
  return found;
}
