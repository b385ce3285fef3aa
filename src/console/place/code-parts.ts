// The parts of a code, and a slip in it (docs/code-format.md).

/** The first group of a code names a cell of this resolution at most; the groups after it name finer ones. */
export const FIRST_GROUP = { symbols: 5, resolution: 7 };
const SYMBOLS = '23456789CFGHJKMPQRVX';

interface Parts {
  readonly province: string;
  readonly cell: string;
  /** '' where the code has one group. */
  readonly finer: string;
  readonly check: string;
}

/** @param code canonical */
export function partsOf(code: string): Parts {
  const start = code.indexOf('-') + 1;
  const rest = code.slice(start, -1);
  return {
    province: code.slice(0, start - 1),
    cell: rest.slice(0, FIRST_GROUP.symbols),
    finer: rest.slice(FIRST_GROUP.symbols).replace(/^-|-$/g, ''),
    check: code.slice(-1),
  };
}

/** The code with the next symbol instead of the last before its check: a slip, which is not a code. */
export function withSlip(code: string): string {
  const at = code.replaceAll('-', ' ').slice(0, -1).trimEnd().length - 1;
  const wrong = SYMBOLS[(SYMBOLS.indexOf(code[at]!) + 1) % SYMBOLS.length];
  return code.slice(0, at) + wrong + code.slice(at + 1);
}

// How exact a position is that somebody typed: half of the step of its last digit.

const METRES_PER_DEGREE = 111_320;
/** Two spellings of the same number differ by rounding only. */
const SAME_DEG = 1e-9;
/** An error of a few metres does not matter, and most positions are written with four decimals. */
const EXACT_M = 10;

interface NumberText {
  readonly value: number;
  /** The step of its last digit. */
  readonly step: number;
}

/** The step in degrees of the last digit of an angle in a text; undefined where the text does not hold the angle. */
function stepOf(numbers: readonly NumberText[], deg: number): number | undefined {
  const angle = Math.abs(deg);
  const isAngle = (value: number): boolean => Math.abs(value - angle) < SAME_DEG;
  for (const [i, degrees] of numbers.entries()) {
    const minutes = numbers[i + 1];
    const seconds = numbers[i + 2];
    if (minutes !== undefined && seconds !== undefined && minutes.value < 60 && seconds.value < 60) {
      const whole = degrees.value + minutes.value / 60 + seconds.value / 3600;
      if (isAngle(whole)) return seconds.step / 3600;
    }
    if (minutes !== undefined && minutes.value < 60 && isAngle(degrees.value + minutes.value / 60))
      return minutes.step / 60;
    if (isAngle(degrees.value)) return degrees.step;
  }
  return undefined;
}

/**
 * The error of a position by the digits that were typed of it, metres: that of the finer of its two angles, as programs
 * leave out zeros at the end. 0 where it is a few metres, or where the text does not tell.
 */
export function typedErrorM(text: string, latDeg: number, lngDeg: number): number {
  const numbers = [...text.matchAll(/\d+(?:[.,](\d+))?/g)].map(
    ([all, decimals = '']): NumberText => ({
      value: Number(all.replace(',', '.')),
      step: 10 ** -decimals.length,
    }),
  );
  const steps = [stepOf(numbers, latDeg), stepOf(numbers, lngDeg)];
  if (steps[0] === undefined || steps[1] === undefined) return 0;
  const errorM = (Math.min(steps[0], steps[1]) / 2) * METRES_PER_DEGREE;
  return errorM <= EXACT_M ? 0 : errorM;
}

/** The error of the middle of a cell, metres: 0 where it is a few metres, or where there is no cell. */
export const cellErrorM = (errorM = 0): number => (errorM <= EXACT_M ? 0 : errorM);
