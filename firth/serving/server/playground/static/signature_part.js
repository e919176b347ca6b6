// A part for any signature: a field for each input, its parameters, and its answer.

import { answerElements } from "./answers.js";
import { Part, element, field, inWords, textArea } from "./dom.js";
import { Knobs } from "./knobs.js";
import { ask } from "./server.js";

/** Returns the part of a signature. */
export function signaturePart(model, name, signature) {
  const part = new Part(name, inWords(name), signature.meaning);
  const inputs = Object.keys(signature.inputs).map((each) => inputOf(signature, each));
  const knobs = Object.keys(signature.parameters).length ? new Knobs(signature.parameters) : null;
  const buttons = element("div", { class: "buttons" }, element("button", { type: "submit" }, "Ask"));
  if (signature.needs) buttons.append(inserting(signature.needs, inputs[0].control));
  part.form.append(...inputs.map((each) => each.field), ...(knobs ? [knobs.element] : []), buttons);
  part.whenSent(async () => {
    const [first, ...others] = inputs.map((each) => [each.name, each.value()]);
    const [answer] = await ask({
      model,
      signature: name,
      texts: [first[1]],
      others: Object.fromEntries(others.map(([key, value]) => [key, [value]])),
      parameters: knobs ? knobs.values() : {},
    });
    part.answer.append(...answerElements(answer, Object.fromEntries([first, ...others])));
  });
  return part;
}

function inputOf(signature, name) {
  const { meaning } = signature.inputs[name];
  const example = signature.example[name] ?? "";
  const known = signature.choices[name];
  if (known) {
    const options = ["", ...known].map((each) => element("option", { value: each }, each || "(none)"));
    const control = element("select", { name }, ...options);
    return { name, control, field: field(inWords(name), control, meaning), value: () => control.value };
  }
  const isList = name in signature.lists;
  const control = textArea(isList ? [example].flat().join("\n") : example);
  control.name = name;
  const isOptional = signature.optional.includes(name);
  control.required = !isOptional;
  const hints = [meaning, isList ? "one a line" : "", isOptional ? "may be empty" : ""];
  const value = () => (isList ? control.value.split("\n").filter((line) => line !== "") : control.value);
  return { name, control, field: field(inWords(name), control, hints.filter(Boolean).join("; ")), value };
}

/** Returns the button that puts a piece where the cursor is. */
function inserting(piece, control) {
  const button = element("button", { type: "button" }, `Insert ${piece}`);
  button.addEventListener("click", () => {
    control.setRangeText(piece, control.selectionStart, control.selectionEnd, "end");
    control.focus();
  });
  return button;
}
