import { isValidCell } from 'h3-js';

/** Loads h3-js where it is a file of its own, as in programs; 20 ms, once. */
export function loadH3(): void {
  isValidCell('0');
}
