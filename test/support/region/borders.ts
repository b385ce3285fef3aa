// The borders of the provinces of an index, as the endpoints and the command give them.
import { ProvinceBorders } from '#dist/hexcodes/geometry/province-borders.js';

export const bordersOf = (index: Uint8Array): ProvinceBorders => new ProvinceBorders(index);
