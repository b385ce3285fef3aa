// Colours, and numbers with units, for people. Colours only on a terminal, and never with NO_COLOR
// (https://no-color.org) or TERM=dumb.

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Paint = (style: keyof typeof STYLES, text: string) => string;

/** Paints text for one stream; leaves it unchanged where that takes no colours. */
export function paintFor(stream: { isTTY?: boolean }): Paint {
  const { NO_COLOR, TERM } = process.env;
  if (stream.isTTY !== true || (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb') {
    return (_style, text) => text;
  }
  return (style, text) => {
    const [on, off] = STYLES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

/** A number with its digits in groups: 1234567 → `1,234,567`. */
export function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A length in metres or kilometres, three digits: `4.35 m`, `1.22 km`. */
export function metres(lengthM: number): string {
  return lengthM < 1000 ? `${significant(lengthM)} m` : `${significant(lengthM / 1000)} km`;
}

/** An area in m² or km², three digits. */
export function squareMetres(areaM2: number): string {
  return areaM2 < 1e6 ? `${significant(areaM2)} m²` : `${significant(areaM2 / 1e6)} km²`;
}

function significant(value: number): string {
  return value >= 100 ? grouped(value) : value.toPrecision(3).replace(/\.?0+$/, '');
}
