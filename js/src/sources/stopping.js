/**
 * Loops that can be left while they wait. An async generator that is asked to return does so when
 * what it awaits has arrived; a source that stalls would stay open, and the model would go on.
 */

/**
 * @template T
 * @typedef {{next(): Promise<IteratorResult<T, any>>, return(value?: any): Promise<IteratorResult<T, any>>}} Inner
 */

/**
 * The elements of `inner`. One who leaves while the next is awaited need not wait for it: `close` is
 * called, which closes what is waited for. So it is when the signal is aborted, whose reason is thrown.
 * @template T
 * @param {Inner<T>} inner asked for one element after the other
 * @param {() => unknown} close
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export function stoppable(inner, close, signal) {
  return /** @type {any} */ (new Stoppable(inner, close, signal));
}

const DONE = { done: true, value: undefined };

class Stoppable {
  #inner;
  #close;
  #signal;
  /** Those who wait for an element, in order. @type {{resolve(result: any): void, reject(error: unknown): void}[]} */
  #waiting = [];
  #hasBegun = false;
  #isOver = false;
  /** What the next step throws. @type {{error: unknown} | null} */
  #failure = null;

  /**
   * @param {Inner<any>} inner
   * @param {() => unknown} close
   * @param {AbortSignal} [signal]
   */
  constructor(inner, close, signal) {
    this.#inner = inner;
    this.#close = close;
    this.#signal = signal;
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener("abort", this.#abort);
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  next() {
    if (this.#isOver) {
      const failure = this.#failure;
      this.#failure = null;
      return failure ? Promise.reject(failure.error) : Promise.resolve(DONE);
    }
    this.#hasBegun = true;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#waiting.length === 1) this.#ask();
    });
  }

  /** @param {any} [value] */
  return(value) {
    if (!this.#isOver && this.#hasBegun && this.#waiting.length === 0) {
      this.#end();
      return this.#inner.return(value);
    }
    if (!this.#isOver) this.#leave();
    return Promise.resolve({ done: true, value });
  }

  /** @param {unknown} error */
  async throw(error) {
    await this.return();
    throw error;
  }

  #ask() {
    this.#inner.next().then(this.#come, this.#fail);
  }

  #come = (/** @type {IteratorResult<any, any>} */ result) => {
    this.#waiting.shift()?.resolve(result);
    if (result.done) this.#end();
    else if (this.#waiting.length !== 0) this.#ask();
  };

  #fail = (/** @type {unknown} */ error) => {
    this.#waiting.shift()?.reject(error);
    this.#end();
  };

  #abort = () => {
    this.#failure = { error: this.#signal?.reason };
    this.#leave();
  };

  /** Close what is waited for. */
  #leave() {
    this.#end();
    this.#close();
  }

  /** It is over, also for those who still wait. */
  #end() {
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve, reject } of waiting) this.next().then(resolve, reject);
  }
}
