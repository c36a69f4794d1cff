/** UTF-8 that arrives in pieces: where a piece is cut, and where it is wrong. */

const STRICT = { fatal: true, ignoreBOM: true };
const DECODER = new TextDecoder("utf-8", STRICT);

/**
 * Return the length of the bytes without an incomplete sequence at their end.
 * @param {Uint8Array} bytes
 */
export function wholeLength(bytes) {
  const { length } = bytes;
  for (let at = length - 1; at >= length - 3; at -= 1) {
    // The first byte of a sequence begins with as many ones as the sequence has bytes.
    if (bytes[at] >= 0xc0) return at + Math.clz32(~bytes[at] << 24) > length ? at : length;
  }
  return length;
}

/**
 * Decode up to the first invalid byte.
 * @param {Uint8Array} bytes
 * @returns {[text: string, isValid: boolean]}
 */
export function decode(bytes) {
  let text = "";
  try {
    return [DECODER.decode(bytes), true];
  } catch {
    const decoder = new TextDecoder("utf-8", STRICT);
    try {
      for (const byte of bytes) text += decoder.decode(Uint8Array.of(byte), { stream: true });
    } catch {}
    return [text, false];
  }
}
