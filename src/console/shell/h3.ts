// h3-js, which knows outlines, parents and neighbours of cells. The page answers and shows its first map before this
// comes; tools/packages/bundle-console.mjs leads every other import of h3-js to `h3`.
import { once, Value } from './value.js';

type H3 = typeof import('h3-js');

/** Undefined until it is there: nothing of src/hexcodes/geometry that needs it may be called before. */
export const h3 = new Value<H3 | undefined>(undefined);

/** Loads it once. @throws TypeError where it cannot be loaded; the next call tries again */
export const loadH3 = once(async () => h3.set(await import('h3-js')));
