// For the tests alone: whole numbers that are drawn, and the same in each run.

/** A small generator with a fixed seed, so that a failure can be seen again (Park and Miller's). */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}
