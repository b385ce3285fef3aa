// Times of a trace from their texts: a number of seconds, or ISO 8601. Nothing is guessed, and every digit of a
// fraction counts.

export type TimeKind = 'a number of seconds' | 'ISO 8601 with a zone' | 'ISO 8601 without a zone';

export interface Instant {
  readonly kind: TimeKind;
  readonly wholeS: number;
  /** Fraction of the second; negative where the time is. */
  readonly fractionUs: number;
}

/** Up to the year 5138 since 1970: larger numbers are milliseconds, which are not seconds. */
const SECONDS = /^([+-]?)(\d{1,11})(?:\.(\d+))?$/;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d+))?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;

/** @returns null where the text is neither */
export function instantOf(text: string): Instant | null {
  const seconds = SECONDS.exec(text);
  if (seconds !== null) {
    const [, sign, whole, fraction] = seconds;
    const factor = sign === '-' ? -1 : 1;
    return {
      kind: 'a number of seconds',
      wholeS: factor * Number(whole),
      fractionUs: factor * microsecondsOf(fraction),
    };
  }
  const iso = ISO.exec(text);
  if (iso === null) return null;
  const [, year, month, day, hour, minute, second = '0', fraction, zone] = iso;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // Date takes 31 February for a day in March.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  return {
    kind: zone === undefined ? 'ISO 8601 without a zone' : 'ISO 8601 with a zone',
    wholeS:
      date.getTime() / 1000 +
      (60 * Number(hour) + Number(minute)) * 60 +
      Number(second) -
      60 * offsetMinutesOf(zone),
    fractionUs: microsecondsOf(fraction),
  };
}

/** As one literal, so that no digit is lost to a product. */
const microsecondsOf = (digits: string | undefined): number =>
  digits === undefined ? 0 : Number(`0.${digits}e6`);

function offsetMinutesOf(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = 60 * Number(zone.slice(1, 3)) + Number(zone.slice(3).replace(':', '') || '0');
  return zone.startsWith('-') ? -minutes : minutes;
}
