// The part of models with slots: a text, or a reply, that is shown while it is written.

import { Part, element, field, textArea } from "./dom.js";
import { Knobs } from "./knobs.js";
import { completion } from "./server.js";

// Names of OpenAI's API for parameters that have other names here.
const NAMES = { max_new_tokens: "max_tokens", min_new_tokens: "min_tokens" };
// Parameters whose defaults are others there.
const ALWAYS = ["max_new_tokens", "temperature", "seed"];

/** Returns the part in which a model continues a text. */
export function continuationPart(model, name, signature, slots) {
  const meaning = "Continues a text, and shows it while it is written.";
  const form = new WritingForm(name, "Generate", meaning, slots);
  const prompt = textArea(signature?.example.text ?? "", 4);
  prompt.name = "prompt";
  prompt.required = true;
  form.fill("Write", field("Prompt", prompt));
  form.part.whenSent(async () => {
    const written = element("span", {});
    const given = element("span", { class: "given" }, prompt.value);
    form.part.answer.replaceChildren(element("p", { class: "written" }, given, written));
    const request = { model, prompt: prompt.value };
    return form.write(written, "v1/completions", request, (choice) => choice.text);
  });
  return form.part;
}

/** Returns the part in which a model replies to a dialogue. */
export function dialoguePart(model, name, slots) {
  const meaning = "Replies to a dialogue, and shows the reply while it is written.";
  const form = new WritingForm(name, "Chat", meaning, slots);
  const system = textArea("", 2);
  const message = textArea("", 3);
  message.name = "message";
  message.required = true;
  const fresh = element("button", { type: "button" }, "New dialogue");
  const dialogue = [];
  fresh.addEventListener("click", () => {
    dialogue.length = 0;
    form.part.answer.replaceChildren();
    message.focus();
  });
  form.fill("Send", field("Instructions", system, "for the whole dialogue; may be empty"), field("Message", message));
  form.buttons.append(fresh);
  form.part.whenSent(async () => {
    const written = element("span", {});
    const asked = { role: "user", content: message.value };
    const shown = [...dialogue, asked].map((each) => element("p", { class: "written message" }, each.content));
    form.part.answer.replaceChildren(...shown, element("p", { class: "written" }, written));
    const before = system.value ? [{ role: "system", content: system.value }] : [];
    const request = { model, messages: [...before, ...dialogue, asked] };
    const reason = await form.write(written, "v1/chat/completions", request, ({ delta }) => delta?.content);
    dialogue.push(asked, { role: "assistant", content: written.textContent });
    message.value = "";
    return reason;
  });
  return form.part;
}

/** A part with parameters, a text to stop at, and a button that stops the model. */
class WritingForm {
  constructor(name, title, meaning, slots) {
    this.part = new Part(name, title, meaning);
    this.knobs = new Knobs(slots.parameters);
    this.schema = textArea("", 2);
    this.schema.name = "schema";
    this.schema.spellcheck = false;
    this.schema.addEventListener("input", () => this.schema.setCustomValidity(problemOf(this.schema.value)));
    this.stop = element("input", { type: "text", name: "stop", spellcheck: "false" });
    this.halt = element("button", { type: "button", name: "halt", hidden: true }, "Stop");
    this.halt.addEventListener("click", () => this.ending.abort());
    this.buttons = element("div", { class: "buttons" });
  }

  /** Adds the fields of the part, then those of all such parts. */
  fill(action, ...fields) {
    this.buttons.append(element("button", { type: "submit" }, action), this.halt);
    const hint = "text before which the model stops; may be empty";
    const held = "JSON Schema that the text is valid by; may be empty";
    const own = [field("Ends before", this.stop, hint), field("Schema", this.schema, held)];
    this.part.form.append(...fields, ...own, this.buttons, this.knobs.element);
  }

  /** Shows a text while it is written, and returns the reason of its end in words. */
  async write(written, path, request, textOf) {
    const values = Object.entries(this.knobs.values(ALWAYS)).map(([name, value]) => [NAMES[name] ?? name, value]);
    const stop = this.stop.value ? { stop: this.stop.value } : {};
    const schema = this.schema.value.trim() ? { response_format: formatOf(this.schema.value) } : {};
    this.ending = new AbortController();
    this.halt.hidden = false;
    this.part.status.textContent = "Writing";
    const begun = performance.now();
    let reason = "";
    let usage = null;
    try {
      const asked = { ...request, ...Object.fromEntries(values), ...stop, ...schema };
      for await (const event of completion(path, asked, this.ending.signal)) {
        const [choice] = event.choices ?? [];
        if (choice) written.append(textOf(choice) ?? "");
        reason = choice?.finish_reason ?? reason;
        usage = event.usage ?? usage;
      }
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return "Stopped";
    } finally {
      if (document.activeElement === this.halt) this.part.form.querySelector("[type=submit]").focus();
      this.halt.hidden = true;
    }
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    const amount = usage ? `${usage.completion_tokens} tokens in ${seconds} s` : `Written in ${seconds} s`;
    return reason === "length" ? `${amount}; it has as many tokens as it may have` : amount;
  }
}

/** Returns the form of a text that is valid by a schema, as OpenAI's API has it. */
function formatOf(schema) {
  return { type: "json_schema", json_schema: { name: "schema", strict: true, schema: JSON.parse(schema) } };
}

/** Returns the problem of a schema that is not JSON; empty for none. */
function problemOf(schema) {
  try {
    if (schema.trim()) JSON.parse(schema);
    return "";
  } catch (error) {
    return `The schema is not JSON: ${error.message}`;
  }
}
