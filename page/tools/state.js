/**
 * The state of the page as the part of its address after `#`, which is never sent to a server.
 *
 *     #model=recipe&piece=120&view=tree&path=root.steps[2]
 *     #text=z…&format=many&piece=12
 *
 * A text is compressed (deflate, base64url) and in the address only if it is small. No DOM.
 */

/**
 * @typedef {object} PageState
 * @property {string} [model] an example
 * @property {string} [stream] the id of a stream on this server
 * @property {string} [text] that was pasted
 * @property {string} [title] of that text or stream
 * @property {string} [format] how it is read; none: recognised
 * @property {number} [piece] the position; none: it plays
 * @property {string} [view]
 * @property {string} [path] what is selected
 */

/** How long the part of the address may be; browsers and chats take much more than this. */
export const MAX_ADDRESS = 6000;
// What a text may become when it is unpacked: an address may be written by anyone.
const MAX_TEXT = 4 << 20;

const TEXTS = /** @type {const} */ (["model", "stream", "title", "format", "view", "path"]);

/**
 * The address of a state, with `#`; what does not fit is left out, and `complete` is false.
 * @param {PageState} state
 * @returns {Promise<{hash: string, complete: boolean}>}
 */
export async function toHash(state) {
  /** @type {string[]} */
  const parts = [];
  let complete = true;
  for (const name of TEXTS) {
    const value = state[name];
    if (value) parts.push(`${name}=${encode(value)}`);
  }
  if (state.piece !== undefined) parts.push(`piece=${state.piece}`);
  if (state.text) {
    const packed = await pack(state.text);
    if (parts.join("&").length + packed.length > MAX_ADDRESS) complete = false;
    else parts.push(`text=${packed}`);
  }
  return { hash: parts.length === 0 ? "" : `#${parts.join("&")}`, complete };
}

/**
 * The state of an address; what cannot be read is left out.
 * @param {string} hash
 * @returns {Promise<PageState>}
 */
export async function fromHash(hash) {
  /** @type {any} */
  const state = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [name, ...rest] = part.split("=");
    const value = rest.join("=");
    if (TEXTS.includes(/** @type {any} */ (name))) state[name] = decode(value);
    else if (name === "text") state.text = await unpack(value).catch(() => undefined);
    else if (name === "piece" && /^\d{1,9}$/.test(value)) state.piece = Number(value);
  }
  for (const name of Object.keys(state)) if (state[name] === undefined || state[name] === "") delete state[name];
  return state;
}

/** Brackets and quotes of paths stay readable. @param {string} text */
function encode(text) {
  return encodeURIComponent(text).replace(/%(5B|5D|3A|2F|24|2C|7B)/gi, (code) => decodeURIComponent(code));
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * A text, compressed, in characters that an address may have.
 * @param {string} text
 */
export async function pack(text) {
  const bytes = new TextEncoder().encode(text);
  const packed = await through(bytes, new CompressionStream("deflate-raw"), Infinity);
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * The inverse of `pack`; rejects what is no such text, or is too large.
 * @param {string} text
 */
export async function unpack(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const unpacked = await through(bytes, new DecompressionStream("deflate-raw"), MAX_TEXT);
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(unpacked);
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {CompressionStream | DecompressionStream} stream
 * @param {number} most
 */
async function through(bytes, stream, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      void reader.cancel().catch(() => {});
      throw new RangeError("the text is too large");
    }
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
