// Numbers that a signature takes next to its texts, with the defaults and ranges of its description.

import { element, field, inWords, shown } from "./dom.js";

// From here on a greatest value is that of its dtype, or of a server.
const NO_LIMIT = 2 ** 24;

/** Fields of the parameters of a signature. */
export class Knobs {
  constructor(parameters) {
    this.parameters = parameters;
    this.inputs = {};
    const fields = Object.entries(parameters).map(([name, each]) => {
      const isWhole = each.dtype.startsWith("int");
      const input = element("input", {
        type: "number",
        name,
        required: true,
        min: each.least,
        max: Math.min(each.most, Number.MAX_SAFE_INTEGER),
        step: isWhole ? 1 : "any",
        value: each.default,
      });
      input.addEventListener("input", () => {
        const isLeast = each.is_above && input.value !== "" && input.valueAsNumber <= each.least;
        input.setCustomValidity(isLeast ? `Must be above ${each.least}` : "");
      });
      this.inputs[name] = input;
      return field(inWords(name), input, `${rangeOf(each)}: ${each.meaning.replaceAll("`", "")}`);
    });
    const reset = element("button", { type: "button" }, "Take the defaults");
    reset.addEventListener("click", () => this.reset());
    this.element = element(
      "details",
      // On a narrow screen the answer is below, and would be far away.
      { open: matchMedia("(min-width: 48.01rem)").matches },
      element("summary", {}, "Parameters"),
      element("div", { class: "knobs" }, ...fields),
      reset,
    );
    // A field that is not valid cannot be shown in what is closed.
    this.element.addEventListener("invalid", () => (this.element.open = true), true);
  }

  /** Gives all parameters their defaults. */
  reset() {
    for (const [name, input] of Object.entries(this.inputs)) {
      input.value = this.parameters[name].default;
      input.setCustomValidity("");
    }
  }

  /** Returns the values that are not the defaults, and those of some other parameters, by name. */
  values(always = []) {
    const all = Object.entries(this.inputs).map(([name, input]) => [name, input.valueAsNumber]);
    const isSent = ([name, value]) => always.includes(name) || value !== this.parameters[name].default;
    return Object.fromEntries(all.filter(isSent));
  }
}

function rangeOf({ least, most, is_above: isAbove }) {
  const begin = isAbove ? `above ${shown(least)}` : `from ${shown(least)}`;
  return most < NO_LIMIT ? `${begin} to ${shown(most)}` : begin;
}
