// The page: the parts of the model that is chosen, made from its description.

import { attentionPart } from "./attention_part.js";
import { element } from "./dom.js";
import { neighboursPart } from "./neighbours_part.js";
import { describedModels, keepToken } from "./server.js";
import { signaturePart } from "./signature_part.js";
import { continuationPart, dialoguePart } from "./writing_part.js";

// Parts of signatures that are shown in another way than by a field for each input.
const OWN_PARTS = { attention: attentionPart, embed_tokens: neighboursPart };
// Signatures that write whole texts, which slots show while they are written.
const WRITTEN_IN_SLOTS = ["generate", "reply"];
const at = (id) => document.getElementById(id);
let models = [];

/** Returns the parts of a model, in the order of its signatures. */
function partsOf({ name: model, signatures, slots }) {
  const found = [];
  for (const [name, signature] of Object.entries(signatures)) {
    // The signature that reads texts is shown instead of the one that reads lists.
    if (signature.texts_by) continue;
    if (slots && WRITTEN_IN_SLOTS.includes(name)) continue;
    found.push((OWN_PARTS[name] ?? signaturePart)(model, name, signature));
  }
  if (!slots) return found;
  const isDialogue = (slots.prompted_with ?? "text") !== "text";
  const writing = isDialogue
    ? dialoguePart(model, "reply", slots)
    : continuationPart(model, "generate", signatures.generate, slots);
  return [writing, ...found];
}

function show(model) {
  const parts = model.problem ? [] : partsOf(model);
  at("facts").textContent = `${model.name}${model.version ? `, version ${model.version}` : ""}`;
  at("parts").replaceChildren(...parts.map((each) => each.section));
  at("contents").replaceChildren(
    ...parts.map((each) => element("li", {}, element("a", { href: `#${each.name}` }, each.title))),
  );
  document.querySelector("nav").hidden = parts.length < 2;
  document.title = `${model.name} – playground of firth`;
  at("state").textContent = parts.length
    ? ""
    : (model.problem ?? "Nothing describes the signatures of this model: another program exported it.");
}

async function begin() {
  try {
    models = await describedModels();
  } catch (error) {
    at("entrance").hidden = error.status !== 401;
    at("state").textContent = error.message;
    if (error.status === 401) at("token").focus();
    return;
  }
  at("entrance").hidden = true;
  at("state").textContent = "";
  const wanted = new URLSearchParams(location.search).get("model");
  const chosen = models.find(({ name }) => name === wanted) ?? models[0];
  at("model").replaceChildren(...models.map(({ name }) => element("option", { value: name }, name)));
  at("model").value = chosen.name;
  at("choice").hidden = models.length < 2;
  show(chosen);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

at("model").addEventListener("change", () => {
  const { value } = at("model");
  history.replaceState(null, "", `?model=${encodeURIComponent(value)}`);
  show(models.find(({ name }) => name === value));
});
at("entrance").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(at("token").value);
  begin();
});
begin();
