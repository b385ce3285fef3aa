// h3-js, which computes outlines, parents and neighbours of cells. The page answers and shows its first map before it
// is loaded; tools/packages/bundle-console.mjs resolves every other import of h3-js to `h3`.
import { once, Value } from './value.js';

type H3 = typeof import('h3-js');

/** Undefined until loaded: nothing in src/hexcodes/geometry that needs it may be called before. */
export const h3 = new Value<H3 | undefined>(undefined);

/**
 * Loads it once.
 * @throws TypeError where it cannot be loaded; the next call retries
 */
export const loadH3 = once(async () => h3.set(await import('h3-js')));
