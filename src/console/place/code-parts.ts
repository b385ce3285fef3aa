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
