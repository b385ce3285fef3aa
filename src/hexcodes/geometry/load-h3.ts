import { isValidCell } from 'h3-js';

/** Loads h3-js where it is a separate file, as in programs; takes 20 ms, once. */
export function loadH3(): void {
  isValidCell('0');
}
