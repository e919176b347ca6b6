// Requests to the server that this page comes from.

let token = "";

/** Keeps the token that requests carry, until the page is left. */
export function keepToken(value) {
  token = value;
}

/** An answer of the server that is an error. */
export class ServerError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Returns the response to a request, relative to the page's address; throws for one that is refused. */
async function send(path, body, signal) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { headers, signal };
  if (body !== undefined) {
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, "The server does not answer; is it running?");
  }
  if (!response.ok) throw new ServerError(response.status, await problemOf(response));
  return response;
}

async function problemOf(response) {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    return error.message ?? String(error);
  } catch {
    return text || `The server answers ${response.status} ${response.statusText}`;
  }
}

/** Returns the descriptions of the models that are served. */
export async function describedModels() {
  return (await (await send("playground/description.json")).json()).models;
}

/** Returns the answers of a signature, one for each text. */
export async function ask(request) {
  return (await (await send("playground/ask", request)).json()).answers;
}

/** Yields the events of a text while it is written, by an address of OpenAI's API. */
export async function* completion(path, request, signal) {
  const options = { stream: true, stream_options: { include_usage: true } };
  const response = await send(path, { ...request, ...options }, signal);
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      if (data === "[DONE]") return;
      if (!data) continue;
      const read = JSON.parse(data);
      if (read.error) throw new ServerError(response.status, read.error.message ?? String(read.error));
      yield read;
    }
  }
}
