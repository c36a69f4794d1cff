/** Binary search. */

/**
 * Return how many of the first indices pass the test. No index passes after one that does not.
 * @param {number} length
 * @param {(index: number) => boolean} isBefore
 */
export function countBefore(length, isBefore) {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
