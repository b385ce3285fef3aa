// Degrees as a parameter of a query, for handlers off the hot path; encode's own are read by EncodeInput, to the same
// rule.
import { readDecimal } from './number.js';
import type { Parameter } from './query.js';

/** The degrees of a parameter that is required, or why there are none, as the end of a sentence. */
export function degreesOf({ text, fault }: Parameter, limitDeg: 90 | 180): number | string {
  if (fault !== undefined) return fault;
  if (text === undefined) return 'is required';
  const value = readDecimal(text);
  if (Math.abs(value) <= limitDeg) return value;
  return `must be ${Number.isFinite(value) ? '' : 'a decimal number '}from -${limitDeg} to ${limitDeg}`;
}
