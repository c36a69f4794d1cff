/** A text that grows piece by piece and remembers how long it was after each piece. */
export class Growth {
  text = "";
  /** The pieces that added to it, and how long it was after each. @type {number[]} */
  _pieces = [];
  /** @type {number[]} */
  _lengths = [];

  /**
   * @param {string} text
   * @param {number} piece the number of the piece, from 1
   */
  add(text, piece) {
    if (text === "") return;
    this.text += text;
    if (this._pieces.at(-1) === piece) {
      this._lengths[this._lengths.length - 1] = this.text.length;
    } else {
      this._pieces.push(piece);
      this._lengths.push(this.text.length);
    }
  }

  /**
   * How long the text was after this many pieces.
   * @param {number} piece
   */
  lengthAt(piece) {
    const count = countUpTo(this._pieces, piece);
    return count === 0 ? 0 : this._lengths[count - 1];
  }

  /**
   * Calls back with each piece that added to the text, and how much it added.
   * @param {(piece: number, added: number) => void} onAdded
   */
  each(onAdded) {
    this._pieces.forEach((piece, at) => onAdded(piece, this._lengths[at] - (this._lengths[at - 1] ?? 0)));
  }

  /**
   * The text after this many pieces.
   * @param {number} piece
   */
  at(piece) {
    const length = this.lengthAt(piece);
    return length === this.text.length ? this.text : this.text.slice(0, length);
  }
}

/**
 * How many numbers of a sorted list are at most `limit`.
 * @param {number[]} sorted
 * @param {number} limit
 */
export function countUpTo(sorted, limit) {
  return countWhile(sorted, (number) => number <= limit);
}

/**
 * How many items at the start of a list satisfy a condition that all later ones do not.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => boolean} condition
 */
export function countWhile(items, condition) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (condition(items[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * What the pieces touched, in order: so that a move finds what changes between two moments.
 * @template T
 */
export class Journal {
  /** @type {T[]} */
  items = [];
  /** How many items there were after each piece. @type {number[]} */
  _ends = [];

  /** @param {number} piece what is touched from now on belongs to it */
  begin(piece) {
    while (this._ends.length < piece) this._ends.push(this.items.length);
  }

  /** @param {T} item */
  touch(item) {
    // Once for each piece, if it is the same one again and again.
    const begin = this._ends.at(-1) ?? 0;
    if (this.items.length === begin || this.items.at(-1) !== item) this.items.push(item);
  }

  /**
   * The range of items that differ between two moments, in either direction.
   * @param {number} one
   * @param {number} other
   * @returns {[number, number]}
   */
  between(one, other) {
    return [this._upTo(Math.min(one, other)), this._upTo(Math.max(one, other))];
  }

  /** @param {number} piece */
  _upTo(piece) {
    return piece < this._ends.length ? this._ends[piece] : this.items.length;
  }
}
