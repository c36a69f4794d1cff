/**
 * The entities of a document: what `entity` declares, and the sink that finds them.
 *
 * `Finder` is the machine's sink for all text outside entities: it follows the patterns down the
 * document and hands over at each entity's first event.
 */

import { ANY_INDEX, fits, parsePattern } from "../paths.js";
import { Placed } from "../parse/placed.js";

/** @typedef {import("../parse/machine.js").Sink} Sink */
/** @typedef {import("../parse/place.js").Place} Place */
/** @typedef {import("../paths.js").Pattern} Pattern */
/**
 * What counts as an entity: a key, a pattern such as `"days[*].activities"`, several of these, or an
 * object of names and patterns.
 * @typedef {string | readonly string[] | {readonly [name: string]: string}} EntityOption
 */
/**
 * One kind of entity: its name (undefined if it has none) and where in a document it may be.
 *
 * A pattern that ends in `[*]` means those elements. Any other one means the value there or, if that
 * is an array, its elements; with `rootArray`, also the elements of a root array.
 * @typedef {{name: string | undefined, pattern: Pattern, text: string, rootArray: boolean}} Declared
 */

// What a pattern is made of; a text without any of these is simply a key.
const SYNTAX = /[.[\]*"]/;

/**
 * The kinds of entities that are declared. They are never inside one another: what is inside an
 * entity is its data.
 * @param {EntityOption | null | undefined} entity
 * @returns {Declared[]}
 */
export function declaredEntities(entity) {
  const entities = declared(entity);
  entities.forEach((one, at) => {
    for (const other of entities.slice(at + 1)) {
      if (!overlap(one.pattern, other.pattern)) continue;
      throw new TypeError(`one entity cannot be inside another: ${JSON.stringify(one.text)} and ` + JSON.stringify(other.text));
    }
  });
  return entities;
}

/**
 * @param {any} entity
 * @returns {Declared[]}
 */
function declared(entity) {
  if (entity === undefined || entity === null) {
    return [{ name: undefined, pattern: [], text: "root", rootArray: false }];
  }
  /** @type {Declared[]} */
  let entities;
  if (typeof entity === "string") {
    entities = [one(entity)];
  } else if (Array.isArray(entity)) {
    entities = entity.map((text) => one(text));
  } else if (typeof entity === "object") {
    entities = Object.entries(entity).map(([name, text]) => one(text, name));
  } else {
    throw new TypeError(`an entity is a name, a pattern, or several, not ${String(entity)}`);
  }
  if (entities.length === 0) {
    throw new TypeError("no entity is declared; leave `entity` out to get the default");
  }
  const [{ pattern }] = entities;
  if (entities.length === 1 && pattern.length === 1 && typeof pattern[0] === "string") {
    entities[0].rootArray = true;
  }
  return entities;
}

/**
 * @param {any} text
 * @param {string} [name]
 * @returns {Declared}
 */
function one(text, name) {
  if (typeof text !== "string") {
    throw new TypeError(`the pattern of an entity is a text, not ${String(text)}`);
  }
  const pattern = patternOf(text);
  const last = /** @type {string | undefined} */ (pattern.filter((step) => typeof step === "string").at(-1));
  return { name: name ?? last, pattern, text, rootArray: false };
}

/**
 * The pattern of a text; one without its syntax is a key, whatever else is in it.
 * @param {string} text
 */
export function patternOf(text) {
  if (text === "") throw new TypeError('a name or pattern is empty; the key "" is written [""]');
  return text !== "root" && !SYNTAX.test(text) ? [text] : parsePattern(text);
}

/**
 * True if a path of one pattern can be a path of the other, or lead to it.
 * @param {Pattern} one
 * @param {Pattern} other
 */
function overlap(one, other) {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((a, at) => fits(a, other[at]) || fits(other[at], a));
}

/**
 * Patterns that fit the path to a container, each with the number of steps that are used up.
 * @typedef {{declared: Declared, used: number}[]} Alive
 */
/**
 * Inside a container: what may be in it, and what each of its elements is.
 * @typedef {{alive: Alive, each: Declared | null}} Inside
 */

/**
 * Follows the text outside entities; at each entity it calls `sinkFor` and tells it the rest.
 *
 * `sinkFor(declared, place)` gives the sink for that entity and sees to it that the machine tells it
 * what follows; `place` is null for the root.
 * @extends {Placed<Inside>}
 */
export class Finder extends Placed {
  #sinkFor;
  #nextDocument;
  // How deep we are in a container in which no entity can be.
  #skipped = 0;

  /**
   * @param {Declared[]} declared
   * @param {(declared: Declared, place: Place | null) => Sink} sinkFor
   * @param {() => void} nextDocument called after each document
   */
  constructor(declared, sinkFor, nextDocument) {
    super(null, { alive: declared.map((one) => ({ declared: one, used: 0 })), each: null });
    this.#sinkFor = sinkFor;
    this.#nextDocument = nextDocument;
  }

  /** @param {number} offset */
  startObject(offset) {
    if (this.#skipped > 0) {
      this.#skipped += 1;
      return;
    }
    const place = this.next();
    const alive = this.#alive(place);
    const declared = entityOf(alive);
    if (declared !== null) this.#sinkFor(declared, place).startObject(offset);
    else this.#open(alive, null, place, "");
  }

  /** @param {number} offset */
  startArray(offset) {
    if (this.#skipped > 0) {
      this.#skipped += 1;
      return;
    }
    const place = this.next();
    const alive = this.#alive(place);
    let declared = entityOf(alive);
    if (declared !== null && this.#isElement(declared)) {
      this.#sinkFor(declared, place).startArray(offset);
      return;
    }
    if (this.depth === 0 && alive[0].declared.rootArray) declared = alive[0].declared;
    this.#open(alive, declared, place, 0);
  }

  endContainer() {
    if (this.#skipped > 0) this.#skipped -= 1;
    else this.leave();
  }

  /** @param {string} key */
  key(key) {
    if (this.#skipped === 0) this.step = key;
  }

  /** @param {number} offset */
  startString(offset) {
    const sink = this.begin();
    if (sink !== null) sink.startString(offset);
    else if (this.#skipped === 0) this.pass();
  }

  text() {}

  endString() {}

  /**
   * @param {any} value
   * @param {string | undefined} text
   * @param {number} offset
   */
  scalar(value, text, offset) {
    const sink = this.begin();
    if (sink !== null) sink.scalar(value, text, offset);
    else if (this.#skipped === 0) this.pass();
  }

  endDocument() {}

  nextDocument() {
    this.#nextDocument();
  }

  restart() {
    super.restart();
    this.#skipped = 0;
  }

  /**
   * A value that is no container begins here: the sink of the entity, if it is one.
   * @returns {Sink | null}
   */
  begin() {
    if (this.#skipped > 0) return null;
    const place = this.here();
    const declared = entityOf(this.#alive(place));
    if (declared === null) return null;
    this.pass();
    return this.#sinkFor(declared, place);
  }

  /**
   * The patterns that a value at this place of the open container may still fit.
   * @param {Place | null} place
   * @returns {Alive}
   */
  #alive(place) {
    const { alive, each } = this.inside;
    if (place === null) return alive;
    if (each !== null) return [{ declared: each, used: -1 }];
    return alive
      .filter(({ declared: { pattern }, used }) => {
        return used < pattern.length && fits(pattern[used], place.key);
      })
      .map(({ declared, used }) => ({ declared, used: used + 1 }));
  }

  /**
   * True if an array here is an entity itself rather than a list of them.
   * @param {Declared} declared
   */
  #isElement({ pattern }) {
    return this.inside.each !== null || pattern.at(-1) === ANY_INDEX;
  }

  /**
   * @param {Alive} alive
   * @param {Declared | null} each
   * @param {Place | null} place
   * @param {string | number} step
   */
  #open(alive, each, place, step) {
    if (alive.length === 0) this.#skipped = 1;
    else this.enter(place, step, { alive, each });
  }
}

/**
 * The entity that a value is, if it is one. (Patterns do not overlap: there is one.)
 * @param {Alive} alive
 */
function entityOf(alive) {
  const matched = alive.find(({ declared, used }) => used < 0 || used === declared.pattern.length);
  return matched === undefined ? null : matched.declared;
}
