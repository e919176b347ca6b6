// The part of `embed_tokens`: the neighbours of a word in two contexts, by the cosine of their vectors.

import { table } from "./answers.js";
import { Part, element, field, shown, textArea } from "./dom.js";
import { ask } from "./server.js";

const MOST_NEIGHBOURS = 10;
// Marks of pieces inside words, or at their begin, of the kinds of tokenizers.
const MARKS = /^(##|▁|Ġ)|(@@|<\/w>)$/gu;
const EXAMPLE = {
  word: "bank",
  contexts: ["She sat on the bank of the river.", "She took the money to the bank."],
  more: "The water of the stream was cold.\nThe loan has a high rate.",
};

/** Returns the part in which a word in two contexts is compared. */
export function neighboursPart(model, name) {
  const meaning = "Compares a word in two contexts, and lists the pieces next to it in each, by cosine.";
  const part = new Part(name, "Neighbours of a word", meaning);
  const word = element("input", { type: "text", name: "word", required: true, spellcheck: "false" });
  word.value = EXAMPLE.word;
  const contexts = EXAMPLE.contexts.map((each) => textArea(each, 2));
  const more = textArea(EXAMPLE.more);
  contexts.forEach((each) => (each.required = true));
  part.form.append(
    field("Word", word, "it is in both contexts"),
    ...contexts.map((each, place) => field(`Context ${place + 1}`, each)),
    field("More texts", more, "one a line, whose pieces may be neighbours too; may be empty"),
    element("div", { class: "buttons" }, element("button", { type: "submit" }, "Compare")),
  );
  part.whenSent(async () => {
    const rest = more.value.split("\n").filter((line) => line.trim());
    const texts = [...contexts.map((each) => each.value), ...rest];
    const outputs = ["pieces", "embeddings"];
    const answers = await ask({ model, signature: name, texts, outputs });
    const read = answers.map(({ values }) => values);
    const found = contexts.map((_, place) => wordIn(read[place], word.value.trim(), place));
    part.answer.append(...comparison(read, found, word.value.trim()));
  });
  return part;
}

function comparison(read, found, word) {
  const all = read.flatMap(({ pieces, embeddings }, text) =>
    pieces.map((piece, place) => ({ piece, text, place, vector: embeddings[place] })),
  );
  const same = cosine(found[0].vector, found[1].vector);
  return [
    element("p", { class: "lines" }, `${word} in context 1 and in context 2: ${shown(same)}`),
    ...found.flatMap(({ places, vector }, context) => {
      const others = all.filter((each) => each.text !== context || !places.includes(each.place));
      const rows = others.map((each) => ({
        piece: each.piece,
        from: each.text < 2 ? `context ${each.text + 1}` : `text ${each.text - 1}`,
        cosine: cosine(vector, each.vector),
      }));
      rows.sort((one, other) => other.cosine - one.cosine);
      return [
        element("h3", {}, `Context ${context + 1}`),
        piecesList(read[context].pieces, places),
        table(`Nearest to ${word} in context ${context + 1}`, rows.slice(0, MOST_NEIGHBOURS)),
      ];
    }),
  ];
}

function piecesList(pieces, places) {
  const items = pieces.map((piece, place) => {
    const isChosen = places.includes(place);
    return element("li", { class: isChosen ? "chosen" : null }, piece);
  });
  return element("ul", { class: "pieces", "aria-label": "Pieces of the text" }, ...items);
}

/** Returns the places of the first pieces that make a word, and the mean of their vectors. */
export function wordIn({ pieces, embeddings }, word, context) {
  const wanted = plain(word);
  const bare = pieces.map((piece) => plain(piece.replace(MARKS, "")));
  for (let begin = 0; begin < bare.length; begin++) {
    let made = "";
    for (let end = begin; end < bare.length && made.length < wanted.length; end++) {
      made += bare[end];
      if (made === wanted && wanted) {
        const places = bare.slice(begin, end + 1).map((_, place) => begin + place);
        return { places, vector: mean(places.map((place) => embeddings[place])) };
      }
    }
  }
  const have = pieces.join(" ");
  throw new Error(`Context ${context + 1} has no pieces that make "${word}"; it has: ${have}`);
}

/** Returns a text without case and accents, which the tokenizer may have removed. */
function plain(text) {
  return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}

function mean(vectors) {
  return vectors[0].map((_, axis) => vectors.reduce((sum, each) => sum + each[axis], 0) / vectors.length);
}

function cosine(one, other) {
  const product = (a, b) => a.reduce((sum, value, axis) => sum + value * b[axis], 0);
  const size = Math.sqrt(product(one, one) * product(other, other));
  return size ? product(one, other) / size : 0;
}
