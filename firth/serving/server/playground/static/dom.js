// Elements of the page. Texts become text nodes, never markup, so that nothing that a model writes runs.

let count = 0;

/** Returns an element with attributes and children; `true` sets an empty attribute, `false` and null none. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((each) => each !== null));
  return made;
}

/** Returns a control with its label and a hint. */
export function field(label, control, hint = "") {
  control.id = `field-${++count}`;
  const found = element("div", { class: "field" }, element("label", { for: control.id }, label), control);
  if (hint) {
    control.setAttribute("aria-describedby", `${control.id}-hint`);
    found.append(element("p", { class: "hint", id: `${control.id}-hint` }, hint));
  }
  return found;
}

/** Returns the field of a text, of some lines. */
export function textArea(value = "", rows = 3) {
  const area = element("textarea", { rows, spellcheck: "false" });
  area.value = value;
  return area;
}

/** Returns a value as it is shown. */
export function shown(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) >= 1e-4 ? value.toFixed(4) : value.toExponential(2);
}

/** Returns a name of the model's description in words. */
export function inWords(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A form with its result next to it: one part of the page. */
export class Part {
  constructor(name, title, meaning) {
    this.name = name;
    this.title = title;
    this.status = element("p", { class: "status", role: "status" });
    this.problem = element("p", { class: "problem", role: "alert" });
    this.answer = element("div", { class: "answer", "aria-live": "polite" });
    this.form = element("form", { "aria-label": title });
    this.section = element(
      "section",
      { id: name, class: "part", "aria-labelledby": `${name}-title` },
      element("h2", { id: `${name}-title` }, title),
      element("p", { class: "meaning" }, meaning),
      element(
        "div",
        { class: "columns" },
        this.form,
        element("div", { class: "result" }, this.status, this.problem, this.answer),
      ),
    );
    this.form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
    });
  }

  /** Calls a function whenever the form is sent, unless its last call has not ended; shows its errors. */
  whenSent(work) {
    this.form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (this.section.getAttribute("aria-busy") === "true") return;
      this.section.setAttribute("aria-busy", "true");
      this.answer.setAttribute("aria-busy", "true");
      this.problem.textContent = "";
      this.status.textContent = "Asking the model";
      this.answer.replaceChildren();
      try {
        this.status.textContent = (await work()) ?? "";
      } catch (error) {
        this.status.textContent = "";
        this.problem.textContent = error.message;
      } finally {
        this.section.removeAttribute("aria-busy");
        this.answer.removeAttribute("aria-busy");
      }
    });
  }
}
