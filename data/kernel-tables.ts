// Makes the kernel's generated files under assembly/face5/: frame.ts (the face as vectors), tables.ts (lattice <->
// digits) and symbols.ts (digits <-> symbols, each part with its share of the check). Pure arithmetic, no sources:
// `npm run data -- kernel-tables` writes them, a test asks that the committed files are what it writes.
import { writeFileSync } from 'node:fs';
import { ADMIN_UNITS } from '#dist/admin-units.js';

type Axial = readonly [number, number];

/** H3 digits 0..6 as axial coordinates (i − k, j − k) of the IJK unit vectors. */
const UNIT: readonly Axial[] = [
  [0, 0],
  [-1, -1],
  [0, 1],
  [-1, 0],
  [1, 0],
  [0, -1],
  [1, 1],
];

/** Coordinates of a cell's centre child: H3's downAp7 where the child is Class III (odd), else downAp7r. */
function centerChild([i, j]: Axial, childResolution: number): Axial {
  return childResolution % 2 ? [2 * i + j, 3 * j - i] : [3 * i - j, i + 2 * j];
}

/** The parent (H3's upAp7, upAp7r: rounding to the nearest, a seventh is never a tie) and the digit in it. */
function parent([i, j]: Axial, resolution: number): { up: Axial; digit: number } {
  const up: Axial =
    resolution % 2
      ? [Math.round((3 * i - j) / 7), Math.round((i + 2 * j) / 7)]
      : [Math.round((2 * i + j) / 7), Math.round((3 * j - i) / 7)];
  const [ci, cj] = centerChild(up, resolution);
  return { up, digit: UNIT.findIndex(([ui, uj]) => ui === i - ci && uj === j - cj) };
}

/** The last `count` digits of a cell and its ancestor that many levels up. */
function digitsUp(cell: Axial, resolution: number, count: number): { digits: number[]; up: Axial } {
  const digits: number[] = [];
  let up = cell;
  for (let r = resolution; r > resolution - count; r--) {
    const step = parent(up, r);
    digits.unshift(step.digit);
    up = step.up;
  }
  return { digits, up };
}

const octal = (digits: number[]) => digits.reduce((word, digit) => word * 8 + digit, 0);

/**
 * Four levels up is a division by 49 (two aperture-7 steps of opposite turn are 7 times the identity), so four
 * digits follow from (i mod 49, j mod 49); the ancestor is the quotient, plus one where the descent's offset is
 * the remainder − 49. Entry: 12 bits of digits, bit 12 = one more for i, bit 13 = one more for j. The first of
 * the four levels has an odd resolution.
 */
function fourDigits(): number[] {
  const table: number[] = [];
  for (let i = 0; i < 49; i++) {
    for (let j = 0; j < 64; j++) {
      const { digits, up } = digitsUp([i, j], 15, 4);
      table.push(octal(digits) | (up[0] << 12) | (up[1] << 13));
    }
  }
  return table;
}

/** Base cells by axial coordinates on face 5. Base cell 52 stands half a turn against the face's axes. */
const BASE_CELLS: Record<string, number> = { '0,0': 50, '0,1': 32, '1,1': 52 };
const HALF_TURN = 52;

/** Head of code-format.md by base cell and first digit, where "-" is digit 7. */
const HEADS = [
  '32/7',
  '32/0',
  '32/1',
  '32/4',
  '32/5',
  '32/6',
  '50/7',
  '50/0',
  '50/2',
  '50/4',
  '50/6',
  '52/7',
  '52/0',
  '52/4',
  '52/5',
  '52/6',
];

const WINDOW_COLUMNS = 32;
const WINDOW_ROWS = 24;

/**
 * Resolution-3 cells of face 5 by (i, j): base cell << 9 | three digits, as the H3 index has them; 0 where the
 * cell belongs to none of the three base cells. The digits of base cell 52 are turned (d -> 7 − d, 0 stays).
 */
function coarseWindow(): number[] {
  const table: number[] = [];
  for (let i = 0; i < WINDOW_ROWS; i++) {
    for (let j = 0; j < WINDOW_COLUMNS; j++) {
      const { digits, up } = digitsUp([i, j], 3, 3);
      const base = BASE_CELLS[up.join()];
      const turned = digits.map((digit) => (base === HALF_TURN && digit > 0 ? 7 - digit : digit));
      table.push(base === undefined ? 0 : (base << 9) | octal(turned));
    }
  }
  return table;
}

/** Coordinates at resolution `to` of the centre descendant of a cell of resolution `from`. */
function centerDescendant(cell: Axial, from: number, to: number): Axial {
  let at = cell;
  for (let r = from + 1; r <= to; r++) at = centerChild(at, r);
  return at;
}

/** Rows (m00, m01, m10, m11) per resolution that take a cell to its centre descendant of resolution 15. */
function toFinest(): number[] {
  return Array.from({ length: 16 }, (_, resolution) => {
    const [a, c] = centerDescendant([1, 0], resolution, 15);
    const [b, d] = centerDescendant([0, 1], resolution, 15);
    return [a, b, c, d];
  }).flat();
}

/** Offset of a triple of digits, resolutions r, r + 1, r + 2, in coordinates of resolution r + 2. */
function tripleOffset(digits: number[], resolution: number): Axial {
  let at: Axial = [0, 0];
  digits.forEach((digit, level) => {
    const [i, j] = centerChild(at, resolution + level);
    at = [i + UNIT[digit]![0], j + UNIT[digit]![1]];
  });
  return at;
}

const ALPHABET = '23456789CFGHJKMPQRVX';

/** GF(4) × Z/5 as two numbers; times the generator g = (α, 2). */
type Element = readonly [number, number];
const ALPHA = [0, 2, 3, 1];
const times = ([x, y]: Element): Element => [ALPHA[x]!, (y * 2) % 5];
const plus = ([x, y]: Element, value: number): Element => [x ^ (value % 4), (y + value) % 5];
const horner = (values: number[]) => values.reduce<Element>((acc, v) => plus(times(acc), v), [0, 0]);

/**
 * A part's share of the check, times g² once for each pair to its right in a text of five pairs, as counters
 * that add up: bits 0-4 its Z/5 value (at most 7 × 4), bits 5-7 and 8 the bits of its GF(4) value, odd = 1.
 */
function share(element: Element, pairsToTheRight: number): number {
  let [x, y] = element;
  for (let steps = 0; steps < 2 * pairsToTheRight; steps++) [x, y] = times([x, y]);
  return y | ((x & 1) << 5) | ((x >> 1) << 8);
}

const symbolBytes = (symbols: number[]) =>
  symbols.reduce((word, symbol, place) => word | (ALPHABET.charCodeAt(symbol) << (8 * place)), 0);

const pairValue = (digits: number[]) =>
  digits.reduce((value, digit, level) => value + 1 + [57, 8, 1][level]! * digit, 0);

/** Three digits, or fewer and sevens, as an index 0..511 -> their digits, or none if no pair looks so. */
function digitsOfTriple(index: number): number[] | undefined {
  const all = [index >> 6, (index >> 3) & 7, index & 7];
  const used = all.indexOf(7);
  const digits = used < 0 ? all : all.slice(0, used);
  const fits = digits.length > 0 && all.slice(digits.length).every((digit) => digit === 7);
  return fits ? digits : undefined;
}

const TRIPLES = Array.from({ length: 512 }, (_, index) => ({ index, digits: digitsOfTriple(index) }));

/** By place of the pair 0..4, then triple of digits: the share of the check, two ASCII bytes << 16; 0 for no pair. */
function pairWords(): number[] {
  return [4, 3, 2, 1, 0].flatMap((pairsToTheRight) =>
    TRIPLES.map(({ digits }) => {
      if (!digits) return 0;
      const value = pairValue(digits);
      const symbols = [Math.floor(value / 20), value % 20];
      return symbolBytes(symbols) * 65536 + share(horner(symbols), pairsToTheRight);
    }),
  );
}

/** By base cell × 8 + first digit − 256: the share of the check, ASCII byte << 16, head number << 24; 0 for no head. */
function headWords(): number[] {
  return Array.from({ length: 168 }, (_, place) => {
    const number = HEADS.indexOf(`${(place + 256) >> 3}/${place & 7}`);
    if (number < 0) return 0;
    return (number << 24) | (ALPHABET.charCodeAt(number) << 16) | share(horner([number]), 5);
  });
}

/**
 * By pair value 0..399: the triple of digits (bits 0-8), how many of them count (bits 9-10), the offset of the
 * triple as four signed bytes from bit 32, (i, j) where its last digit's resolution is even, then where odd; 0 for value 0.
 */
function tripleWords(): bigint[] {
  const words = Array.from({ length: 400 }, () => 0n);
  for (const { index, digits } of TRIPLES) {
    if (!digits) continue;
    const padded = [...digits, 0, 0].slice(0, 3);
    const offsets = [...tripleOffset(padded, 2), ...tripleOffset(padded, 5)];
    const bytes = offsets.reduce((word, at, place) => word | (BigInt(at & 255) << BigInt(8 * place)), 0n);
    words[pairValue(digits)] = BigInt(index | (digits.length << 9)) | (bytes << 32n);
  }
  return words;
}

/** By head number, its centre on face 5 at resolution 15 (i, j); base cell << 3 | digit; 1 or −1 for a half turn. */
function headOrigins(): number[] {
  return HEADS.flatMap((head) => {
    const [base, digit] = head.split('/').map(Number) as [number, number];
    const place = Object.keys(BASE_CELLS).find((key) => BASE_CELLS[key] === base)!;
    const turn = base === HALF_TURN ? -1 : 1;
    const [i, j] = centerDescendant(place.split(',').map(Number) as unknown as Axial, 0, 15);
    const [di, dj] = centerDescendant(UNIT[digit % 7]!, 1, 15);
    return [i + turn * di, j + turn * dj, base * 8 + digit, turn];
  });
}

/** By admin number: the prefix with its "-" as four bytes, and the share of its letters. */
function adminWords(): { prefix: number[]; shares: number[] } {
  const letters = ADMIN_UNITS.map((unit) => unit.code);
  const prefix = letters.map((code) => Buffer.from(`${code}-`.padEnd(4, '\0')).readUInt32LE(0));
  const shares = letters.map((code) =>
    share(times(horner([...code].map((letter) => (letter.charCodeAt(0) - 65) % 20))), 5),
  );
  return { prefix, shares };
}

/**
 * By number of pairs × 512 + low 9 bits of the sum of shares: the ASCII byte of the check. The shares are those of
 * a text of five pairs, the missing last ones count nothing: g² is divided out once for each, and has order 6.
 */
function checkBytes(): number[] {
  return Array.from({ length: 6 * 512 }, (_, index) => {
    const pairs = index >> 9;
    let acc: Element = [((index >> 5) & 1) | (((index >> 8) & 1) << 1), (index & 31) % 5];
    for (let steps = 0; steps < 2 * (1 + pairs) + 1; steps++) acc = times(acc);
    return ALPHABET.charCodeAt((5 * acc[0] + 16 * ((5 - acc[1]) % 5)) % 20);
  });
}

function literal(name: string, type: string, values: readonly (number | bigint)[], doc: string): string {
  const lines: string[] = [];
  let line = ' ';
  for (const value of values) {
    const text = ` ${value},`;
    if (line.length + text.length > 109) {
      lines.push(line);
      line = ' ';
    }
    line += text;
  }
  lines.push(line);
  return `/** ${doc} */\nexport const ${name}: usize = memory.data<${type}>([\n${lines.join('\n')}\n]);\n`;
}

/** Centre and i-axis azimuth of face 5 in radians, H3's own numbers (faceijk.c). */
const FACE_LAT = 0.1727453274156187;
const FACE_LNG = 1.6781468852804338;
const FACE_AZIMUTH = 2.692877706530643;

/** The middle of the box that the fast path serves; its halves are exact in binary. */
const MIDDLE_LAT_DEG = 15;
const MIDDLE_LNG_DEG = 109.125;
const HALF_LAT_DEG = 9;
const HALF_LNG_DEG = 7.625;

type Vector = readonly [number, number, number];
const combine = (a: number, v: Vector, b: number, w: Vector): Vector => [
  a * v[0] + b * w[0],
  a * v[1] + b * w[1],
  a * v[2] + b * w[2],
];

/** Face 5 in axes turned about the pole so that the box's middle meridian is y = 0: centre, x-axis, y-axis. */
function faceFrame(): { center: Vector; x: Vector; y: Vector } {
  const lng = FACE_LNG - (MIDDLE_LNG_DEG * Math.PI) / 180;
  const [sinLat, cosLat, sinLng, cosLng] = [
    Math.sin(FACE_LAT),
    Math.cos(FACE_LAT),
    Math.sin(lng),
    Math.cos(lng),
  ];
  const north: Vector = [-sinLat * cosLng, -sinLat * sinLng, cosLat];
  const east: Vector = [-sinLng, cosLng, 0];
  const [sinAz, cosAz] = [Math.sin(FACE_AZIMUTH), Math.cos(FACE_AZIMUTH)];
  return {
    center: [cosLat * cosLng, cosLat * sinLng, sinLat],
    x: combine(cosAz, north, sinAz, east),
    y: combine(sinAz, north, -cosAz, east),
  };
}

/** cos and sin of asin(√(3/28)), the turn between even (Class II) and odd (Class III) resolutions. */
const COS_TURN = Math.sqrt(25 / 28);
const SIN_TURN = Math.sqrt(3 / 28);
/** Lattice units of resolution r per unit of the gnomonic plane: (3 + √5) / 2 · √7^r. */
const unitsPerPlane = (resolution: number) =>
  ((3 + Math.sqrt(5)) / 2) * 7 ** (resolution >> 1) * (resolution % 2 ? Math.sqrt(7) : 1);

function frameConstants(): string {
  const { center, x, y } = faceFrame();
  const rootThree = Math.sqrt(3);
  const rows: [string, Vector, string][] = [['CENTER', center, 'The face centre.']];
  for (const [name, cos, sin] of [
    ['EVEN', 1, 0],
    ['ODD', COS_TURN, SIN_TURN],
  ] as const) {
    const i = combine(cos, x, sin, y);
    const across = combine(cos, y, -sin, x);
    rows.push([
      `${name}_I`,
      combine(2, i, 0, i),
      `Twice the i-axis of the ${name.toLowerCase()} resolutions.`,
    ]);
    rows.push([`${name}_J`, combine(-1, i, rootThree, across), 'Twice their j-axis.']);
    if (name === 'ODD') {
      const unit = 1 / unitsPerPlane(15);
      rows.push([
        'STEP_I',
        combine(unit, i, 0, i),
        'One step along i at resolution 15, on the tangent plane.',
      ]);
      rows.push([
        'STEP_J',
        combine(-unit / 2, i, (unit * rootThree) / 2, across),
        'One step along j at resolution 15.',
      ]);
    }
  }
  const lines = rows.flatMap(([name, vector, doc]) => [
    `\n/** ${doc} */`,
    ...vector.map((value, k) => `export const ${name}_${'XYZ'[k]}: f64 = ${value};`),
  ]);
  const middle = (MIDDLE_LAT_DEG * Math.PI) / 180;
  return (
    `${origin}// Face 5 as vectors, about the pole so turned that the meridian ${MIDDLE_LNG_DEG}° E is y = 0.\n\n` +
    `/** The box of the fast path, degrees; all of it lies on face 5. */\n` +
    `export const MIDDLE_LAT_DEG: f64 = ${MIDDLE_LAT_DEG};\nexport const MIDDLE_LNG_DEG: f64 = ${MIDDLE_LNG_DEG};\n` +
    `export const HALF_LAT_DEG: f64 = ${HALF_LAT_DEG};\nexport const HALF_LNG_DEG: f64 = ${HALF_LNG_DEG};\n` +
    `export const SIN_MIDDLE_LAT: f64 = ${Math.sin(middle)};\nexport const COS_MIDDLE_LAT: f64 = ${Math.cos(middle)};\n` +
    `${lines.join('\n')}\n\n` +
    literal(
      'UNITS',
      'f64',
      Array.from({ length: 16 }, (_, r) => unitsPerPlane(r)),
      'Lattice units per unit of the gnomonic plane: (3 + √5) / 2 · √7^resolution.',
    )
  );
}

const origin = '// Generated by data/kernel-tables.ts (`npm run data -- kernel-tables`): do not edit.\n';

export function kernelTables(): Record<string, string> {
  const admin = adminWords();
  return {
    'assembly/face5/frame.ts': frameConstants(),
    'assembly/face5/tables.ts':
      `${origin}// Lattice coordinates of icosahedron face 5 -> H3 digits and back.\n\n` +
      `${literal('FOUR_DIGITS', 'u16', fourDigits(), '(i mod 49) × 64 + (j mod 49) -> 12 bits of digits, bits 12 and 13 the carries of i and j.')}\n` +
      `/** A row of COARSE whose first column is 0. */\nexport const UNDECIDED_ROW: i32 = ${WINDOW_ROWS - 1};\n\n` +
      `${literal('COARSE', 'u16', coarseWindow(), 'i × 32 + j of a resolution-3 cell -> base cell << 9 | three digits, 0 = none of 32, 50, 52.')}\n` +
      literal(
        'TO_FINEST',
        'i32',
        toFinest(),
        'Per resolution (m00, m01, m10, m11): to the centre descendant of resolution 15.',
      ),
    'assembly/face5/symbols.ts':
      `${origin}// Digits -> symbols and back, each part with its share of the check.\n\n` +
      [
        literal(
          'PAIR_WORDS',
          'u32',
          pairWords(),
          'Pair 0..4 × 512 + three digits (7 = none) -> share of the check, two ASCII bytes << 16.',
        ),
        literal(
          'HEAD_WORDS',
          'u32',
          headWords(),
          'Base cell × 8 + first digit − 256 -> share, ASCII << 16, head number << 24.',
        ),
        literal(
          'TRIPLE_WORDS',
          'u64',
          tripleWords(),
          'Pair value -> digits, count << 9, offsets (i, j) at an even and at an odd resolution << 32.',
        ),
        literal(
          'HEAD_ORIGINS',
          'i32',
          headOrigins(),
          'Head -> (i, j) of its centre at resolution 15, base cell × 8 + digit, turn.',
        ),
        literal('ADMIN_PREFIX', 'u32', admin.prefix, 'Admin number -> its letters and "-".'),
        literal('ADMIN_SHARES', 'u32', admin.shares, 'Admin number -> share of the check.'),
        literal(
          'CHECK_BYTES',
          'u8',
          checkBytes(),
          'Pairs × 512 + low 9 bits of the sum of shares -> ASCII of the check symbol.',
        ),
      ].join('\n'),
  };
}

export default function main(): void {
  for (const [path, text] of Object.entries(kernelTables())) writeFileSync(path, text);
}
