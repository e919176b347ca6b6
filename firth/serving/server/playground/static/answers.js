// Answers of any signature, in the form that its description gives them.

import { element, inWords, shown } from "./dom.js";

const MOST_ROWS = 100;
// A longer list of numbers is a vector.
const MOST_NUMBERS = 64;

/**
 * Returns the elements of an answer: its lines for people, a table for each list of records or for
 * lists that belong together, and a note on texts that were cut.
 */
export function answerElements({ lines, values, note }, given = {}) {
  const entries = Object.entries(values);
  const isList = ([, value]) => Array.isArray(value);
  const found = [];
  if (!entries.length || entries.some((each) => !isList(each))) {
    found.push(element("p", { class: "lines" }, lines.join("\n")));
  }
  const columns = {};
  for (const [name, value] of entries.filter(isList)) {
    if (value.every((each) => Array.isArray(each))) {
      found.push(...value.flatMap((each, place) => nested(name, each, place, value.length)));
    } else if (value.some((each) => each !== null && typeof each === "object")) {
      found.push(table(inWords(name), value));
    } else {
      ((columns[value.length] ??= {})[name] = value);
    }
  }
  for (const each of Object.values(columns)) found.push(listed(each, given));
  if (note) found.push(element("p", { class: "note" }, note));
  return found;
}

function nested(name, value, place, count) {
  if (!value.length || typeof value[0] !== "object") return [vector(name, value)];
  return [table(count > 1 ? `${inWords(name)}, ${place + 1} of ${count}` : inWords(name), value)];
}

/** Returns lists of the same length as a table, next to the list that was given with the texts. */
function listed(columns, given) {
  const names = Object.keys(columns);
  const count = columns[names[0]].length;
  const isVector = names.length === 1 && columns[names[0]].every((each) => typeof each === "number");
  if (isVector && count > MOST_NUMBERS) return vector(names[0], columns[names[0]]);
  const known = Object.entries(given).filter(
    ([name, value]) => Array.isArray(value) && value.length === count && !(name in columns),
  );
  const all = { ...Object.fromEntries(known), ...columns };
  const rows = columns[names[0]].map((_, row) =>
    Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values[row]])),
  );
  const share = names.find((name) => areShares(columns[name]));
  if (share !== undefined) rows.sort((one, other) => other[share] - one[share]);
  return table("", rows);
}

function vector(name, values) {
  const first = values.slice(0, 6).map(shown).join(", ");
  const more = values.length > 6 ? ", ..." : "";
  return element("p", { class: "lines" }, `${inWords(name)}, ${values.length} numbers: ${first}${more}`);
}

function areShares(values) {
  const inside = (each) => typeof each === "number" && each >= 0 && each <= 1;
  return values.every(inside) && values.some((each) => !Number.isInteger(each));
}

/** Returns records as a table, with a bar under each share. */
export function table(caption, records) {
  const names = [...new Set(records.flatMap((each) => Object.keys(each)))];
  const shares = new Set(names.filter((name) => areShares(records.map((each) => each[name]))));
  const whole = new Set(names.filter((name) => records.every((each) => Number.isInteger(each[name]))));
  const heads = names.map((name) => element("th", { scope: "col" }, inWords(name)));
  const rows = records
    .slice(0, MOST_ROWS)
    .map((each) => element("tr", {}, ...names.map((name) => cell(each[name], shares.has(name), whole.has(name)))));
  const more = records.length - MOST_ROWS;
  const title = more > 0 ? `${caption} (${more} more are not shown)` : caption;
  const found = element(
    "table",
    {},
    title ? element("caption", {}, title) : null,
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows),
  );
  return element("div", { class: "scroll" }, found);
}

function cell(value, isShare, isWhole) {
  const isNumber = typeof value === "number";
  const text = isNumber && !isWhole ? value.toFixed(4) : shown(value ?? "");
  const found = element("td", { class: isNumber ? "number" : null }, text);
  if (isShare) {
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${100 * value}%`;
    found.classList.add("share");
    found.append(bar);
  }
  return found;
}
