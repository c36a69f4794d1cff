/** Offsets in a text. JavaScript counts UTF-16 units; jsonrill and people count characters. */

/**
 * Return the number of units in the first characters of a text.
 * @param {string} text
 * @param {number} points
 */
export function unitsOf(text, points) {
  if (!/[\ud800-\udbff]/.test(text)) return points;
  let units = 0;
  for (let left = points; left > 0; left -= 1) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

/**
 * Return the line and column of an offset, both from 1. Columns count characters.
 * @param {string} text
 * @param {number} offset
 */
export function placeOf(text, offset) {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: [...before.slice(start)].length + 1 };
}

/**
 * Return the offset of the quote that ends a string.
 * @param {string} text
 * @param {number} from
 */
export function closingQuote(text, from) {
  const pattern = /\\[^]|"/g;
  pattern.lastIndex = from;
  let match = pattern.exec(text);
  while (match !== null && match[0] !== '"') match = pattern.exec(text);
  return match?.index ?? text.length - 1;
}
