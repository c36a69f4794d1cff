/**
 * Loops that can be left while they wait. An async generator that is asked to return does so when
 * what it awaits has arrived; a source that stalls would stay open, and the model would go on.
 */

/**
 * What gives elements. `ask`: one is wanted; `come` or `fail` is called. `close`: no reader wants what is waited for.
 * @typedef {{ask(come: (result: IteratorResult<any, any>) => void, fail: (error: unknown) => void): unknown,
 *   return(value: any): Promise<IteratorResult<any, any>>, close(): unknown}} Inner
 */

/**
 * The elements of a generator. One who leaves while the next is awaited need not wait for it: `close` is
 * called, which closes what is waited for. So it is when the signal is aborted, whose reason is thrown.
 * @template T
 * @param {AsyncGenerator<T, any, undefined>} generator
 * @param {() => unknown} close
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export function stoppable(generator, close, signal) {
  /** @type {Inner} */
  const inner = {
    ask: (come, fail) => generator.next().then(come, fail),
    return: (value) => generator.return(value),
    close,
  };
  return /** @type {any} */ (new Stoppable(inner, signal));
}

const DONE = { done: true, value: undefined };

/** The elements of `inner`, which is asked for one after the other. */
export class Stoppable {
  #inner;
  #signal;
  /** What to call for those who wait for an element, in order. @type {((result: any) => void)[]} */
  #waiting = [];
  #hasBegun = false;
  #isOver = false;
  /** What the next step throws. @type {{error: unknown} | null} */
  #failure = null;

  /**
   * @param {Inner} inner
   * @param {AbortSignal} [signal]
   */
  constructor(inner, signal) {
    this.#inner = inner;
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
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#ask();
    });
  }

  /** @param {any} [value] */
  async return(value) {
    if (!this.#isOver && this.#hasBegun && this.#waiting.length === 0) {
      this.#end();
      return this.#inner.return(value);
    }
    if (!this.#isOver) this.#leave();
    return { done: true, value };
  }

  /** @param {unknown} error */
  async throw(error) {
    await this.return();
    throw error;
  }

  #ask() {
    try {
      this.#inner.ask(this.#come, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
  }

  #come = (/** @type {IteratorResult<any, any>} */ result) => {
    this.#waiting.shift()?.(result);
    if (result.done) this.#end();
    else if (this.#waiting.length !== 0) this.#ask();
  };

  #fail = (/** @type {unknown} */ error) => {
    this.#waiting.shift()?.(Promise.reject(error));
    this.#end();
  };

  #abort = () => {
    this.#failure = { error: this.#signal?.reason };
    this.#leave();
  };

  /** Close what is waited for. */
  #leave() {
    this.#end();
    this.#inner.close();
  }

  /** It is over, also for those who still wait. */
  #end() {
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(this.next());
  }
}
