/** UTF-8 that arrives in pieces: where a piece is cut, and where it is wrong. */

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The bytes of a buffer or of a view of one.
 * @param {unknown} data
 * @returns {Uint8Array}
 */
export function toBytes(data) {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  const kind = data === null ? "null" : typeof data;
  throw new TypeError(`a piece of text is a string or bytes, not ${kind}`);
}

/**
 * Length of the sequence at `at`: 0 if it is invalid, -1 if the end of the bytes cuts it off.
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function sequence(bytes, at) {
  const lead = bytes[at];
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // Overlong forms, surrogates and what is beyond U+10FFFF show in the second byte.
  let least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let next = at + 1; next < at + size; next += 1) {
    if (next >= bytes.length) return -1;
    if (bytes[next] < least || bytes[next] > most) return 0;
    least = 0x80;
    most = 0xbf;
  }
  return size;
}

/**
 * Where a sequence begins that the end of the bytes cuts off; their length if there is none.
 * @param {Uint8Array} bytes
 */
export function wholeLength(bytes) {
  const { length } = bytes;
  for (let at = length - 1; at >= Math.max(0, length - 3); at -= 1) {
    if (bytes[at] >= 0xc0) return sequence(bytes, at) === -1 ? at : length;
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
    let at = 0;
    for (let size = sequence(bytes, 0); size > 0; size = sequence(bytes, at)) at += size;
    return [DECODER.decode(bytes.subarray(0, at)), at];
  }
}
