// Where the page keeps the zones of the visitor. The first load asks only whether there are any, so it needs no more.
export const ZONES_KEY = 'hexcodes-zones';
