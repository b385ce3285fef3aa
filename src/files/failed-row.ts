// The fault of a failed row, in words: the columns that were read and their values. For the summary and for
// `--errors stop`.

import type { RowFailure } from './tally.js';

/** A field of a row. */
export interface Field {
  /** Name of its column. */
  readonly name: string;
  readonly text: string;
}

export interface Degrees extends Field {
  /** NaN where the text is no number. */
  readonly degrees: number;
}

/** The fields of a row that its conversion read. */
export type ReadFields =
  | { readonly kind: 'pair'; readonly lat: Degrees; readonly lng: Degrees; readonly resolution: Field | null }
  /** A whole position or a code. */
  | { readonly kind: 'whole'; readonly field: Field; readonly resolution: Field | null };

/** UTF-16 units of a name or a value that are shown. */
const SHOWN = 60;

/**
 * The fields that made the row fail; all of them where that cannot be said of one.
 * @param fields `resolution` only if it is none from 0 to 15
 */
export function faultIn(status: RowFailure, fields: ReadFields): string {
  const { resolution } = fields;
  if (status === 'INVALID_REQUEST' && resolution !== null) return shown(resolution);
  if (fields.kind === 'whole') return shown(fields.field);
  const { lat, lng } = fields;
  const wrong = [...(isWithin(lat, 90) ? [] : [lat]), ...(isWithin(lng, 180) ? [] : [lng])];
  const blamed = status === 'INVALID_REQUEST' && wrong.length > 0 ? wrong : [lat, lng];
  return blamed.map(shown).join(', ');
}

function isWithin({ text, degrees }: Degrees, most: number): boolean {
  return text.trim() !== '' && Math.abs(degrees) <= most;
}

function shown({ name, text }: Field): string {
  return text.trim() === '' ? `${cut(name)} is empty` : `${cut(name)} ${JSON.stringify(cut(text))}`;
}

function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
