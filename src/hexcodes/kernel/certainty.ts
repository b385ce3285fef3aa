// How sure the province of a position is: the distance to the nearest border between two provinces, and the share of
// right provinces that was measured at such distances. The index carries the measured shares, as they are those of its
// own borders.

/** `borderOf` and `borderBatch` of the kernel: no border between two provinces within 5 km. */
export const NO_BORDER = 65_535;
/** The most bands that an index may have. */
export const MOST_BANDS = 8;

/** Positions whose distance to a border is below `belowM`, and not below that of the band before. */
export interface Band {
  /** Metres; Infinity for the last band. */
  readonly belowM: number;
  /** The share of them whose province is right, 0 to 1. */
  readonly share: number;
}

/** Bands as an index has them: `belowM`, null for the last, and `share`. */
export type BandPairs = readonly (readonly [belowM: number | null, share: number])[];

/** How sure the province of a position is. */
export interface Border {
  /** Whole metres to the nearest border between two provinces; null beyond 5 km. */
  readonly borderM: number | null;
  /** The share of positions at such a distance whose province is right, 0 to 1; null where the index has no shares. */
  readonly certainty: number | null;
}

/** The bands of an index, from near to far; none where their accuracy was not measured. */
export function bandsOf(pairs: BandPairs = []): readonly Band[] {
  return pairs.map(([belowM, share]) => ({ belowM: belowM ?? Number.POSITIVE_INFINITY, share }));
}

/** Whether what an index says of its bands can be used: at most MOST_BANDS, ascending, the last one without an end. */
export function areBands(given: unknown): given is BandPairs {
  if (!Array.isArray(given) || given.length < 1 || given.length > MOST_BANDS) return false;
  let last = 0;
  return given.every((band, n) => {
    if (!Array.isArray(band) || band.length !== 2) return false;
    const [belowM, share] = band as [unknown, unknown];
    const isLast = n === given.length - 1;
    const isEnd = isLast ? belowM === null : Number.isInteger(belowM) && (belowM as number) > last;
    last = belowM as number;
    return isEnd && typeof share === 'number' && share >= 0 && share <= 1;
  });
}

/** The share at an answer of `borderOf`; null without bands. */
export function shareAt(bands: readonly Band[], metres: number): number | null {
  return bands.find(({ belowM }) => metres < belowM)?.share ?? null;
}
