/** UTF-8 that arrives in pieces: where a piece is cut, and where it is wrong. */

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Return the bytes of a buffer or of a view of one.
 * @param {unknown} data
 * @returns {Uint8Array}
 */
export function toBytes(data) {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new TypeError(`a piece of text is a string or bytes, not ${data === null ? "null" : typeof data}`);
}

/** Return the length of a sequence that begins with this byte. @param {number} lead */
function sizeOf(lead) {
  return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/**
 * Return the length of the bytes without an incomplete sequence at their end.
 * @param {Uint8Array} bytes
 */
export function wholeLength(bytes) {
  const { length } = bytes;
  for (let at = length - 1; at >= Math.max(0, length - 3); at -= 1) {
    if (bytes[at] >= 0xc0) return at + sizeOf(bytes[at]) > length ? at : length;
  }
  return length;
}

/**
 * Decode up to the first invalid byte: the text and where it ends.
 * @param {Uint8Array} bytes
 * @returns {[string, number]}
 */
export function decode(bytes) {
  try {
    return [DECODER.decode(bytes), bytes.length];
  } catch {
    let text = "";
    for (let at = 0; ; at += sizeOf(bytes[at])) {
      try {
        text += DECODER.decode(bytes.subarray(at, at + sizeOf(bytes[at])));
      } catch {
        return [text, at];
      }
    }
  }
}
