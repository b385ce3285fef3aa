// The place that the page shows: its codes, the error of what was typed, words for the telephone, values and
// languages.
import { describe, expect, test, vi } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { type FoundPosition, findCode, parent } from '#hexcodes/geometry';
import { consoleModule } from '../../support/console-module.js';
import { randomFrom } from '../../support/open-world.js';

// The place that the page shows: of a position, of a code, larger and smaller.
describe('codes', async () => {
  interface Place {
    readonly hexcodes: string;
    readonly resolution: number;
    readonly from?: { lat: number; lng: number };
    readonly root: { hexcodes: string; resolution: number };
  }
  const { placeAt, placeOf, atResolution, resolutionFor } = await consoleModule<{
    placeAt(library: Hexcodes, lat: number, lng: number, resolution: number): Place | undefined;
    placeOf(library: Hexcodes, code: string): Place | undefined;
    atResolution(library: Hexcodes, place: Place, resolution: number): Place;
    resolutionFor(errorM: number): number;
  }>('place/place.ts');
  const library = await Hexcodes.load();

  test('a position has a code of every resolution', () => {
    const place = placeAt(library, 21.0288, 105.8525, 9)!;
    expect([place.hexcodes, place.root.resolution]).toEqual([
      library.encode(21.0288, 105.8525, 9).hexcodes,
      15,
    ]);
    expect(place.from).toEqual({ lat: 21.0288, lng: 105.8525 });
    for (const resolution of [0, 5, 13, 15])
      expect(atResolution(library, place, resolution).hexcodes).toBe(
        library.encode(21.0288, 105.8525, resolution).hexcodes,
      );
    expect(placeAt(library, 48.8, 2.3, 9)).toBeUndefined();
  });

  test("a code has only its own cell and its parents', and leads back to them", () => {
    const place = placeOf(library, 'hn 6ghp4 83rfr')!;
    expect([place.hexcodes, place.resolution, place.from]).toEqual(['HN-6GHP4-83RFR', 13, undefined]);
    const larger = atResolution(library, place, 7);
    expect(larger.resolution).toBe(7);
    expect(atResolution(library, larger, 15).hexcodes).toBe('HN-6GHP4-83RFR');
    expect(atResolution(library, larger, 13).hexcodes).toBe('HN-6GHP4-83RFR');
    expect(placeOf(library, 'HN-6GHP4-83RFQ')).toBeUndefined();
  });

  test('a cell is as large as the error of its position', () => {
    expect([0, 0.5, 3, 8, 100, 2500, 50_000, 1e9].map(resolutionFor)).toEqual([15, 15, 13, 12, 9, 6, 3, 0]);
  });
});

// How a code is made: its parts are those of the format, and a wrong symbol makes it no code.
describe('parts of a code', async () => {
  const { partsOf, withSlip } =
    await consoleModule<typeof import('../../../src/console/place/code-parts.js')>('place/code-parts.ts');
  const library = await Hexcodes.load();

  test('codes of every resolution: the parts in turn are the code, the first group is the cell of resolution 7', () => {
    const random = randomFrom(55);
    let codes = 0;
    while (codes < 600) {
      const [lat, lng] = [8.5 + 14.5 * random(), 102.5 + 7 * random()];
      if (library.adminCodeOf(lat, lng) === null) continue;
      const resolution = codes++ % 16;
      const { hexcodes, admin_code } = library.read(library.encode(lat, lng, resolution).hexcodes)!;
      const { province, cell, finer, check } = partsOf(hexcodes);
      const bare = (text: string): string => text.replaceAll('-', '');
      expect(bare(province + cell + finer + check)).toBe(bare(hexcodes));
      expect([province, check.length, finer === '']).toEqual([admin_code, 1, resolution <= 7]);
      expect(finer).not.toMatch(/^-|-$/);
      if (resolution > 7)
        expect(partsOf(parent(library, hexcodes, 7))).toMatchObject({ province, cell, finer: '' });
      const slip = withSlip(hexcodes);
      expect([...slip].filter((symbol, i) => symbol !== hexcodes[i])).toHaveLength(1);
      expect(library.read(slip), slip).toBeNull();
    }
  });
});

// The error of a typed position is half of the step of its last digit; zeros at the end that a program left out, and
// a few metres, are none.
describe('the error of a typed position', async () => {
  const { typedErrorM } = await consoleModule<{
    typedErrorM(text: string, latDeg: number, lngDeg: number): number;
  }>('place/code-parts.ts');
  const { resolutionFor } = await consoleModule<{ resolutionFor(errorM: number): number }>('place/place.ts');
  const library = await Hexcodes.load();

  test.each([
    [`21°1'N 105°51'E`, 928, 7],
    [`21°01'44"N 105°51'09"E`, 15, 11],
    [`21°01'43.7"N 105°51'09"E`, 0, 15],
    [`21°1.7'N, 105°51.2'E`, 93, 9],
    ['21.0288, 105.8525', 0, 15],
    ['21,03 105,85', 557, 7],
    ['21.0288, 105.85', 0, 15],
    ['21, 105.8525', 0, 15],
    ['21, 106', 55_660, 3],
    ['POINT(105.853 21.029)', 56, 10],
    ['https://maps.example/?q=21.029,105.853', 56, 10],
  ])('%s: %i m', (text, wantedM, finest) => {
    const { lat, lng } = findCode(library, text) as FoundPosition;
    const errorM = typedErrorM(text, lat, lng);
    expect(Math.round(errorM)).toBe(wantedM);
    if (errorM > 0) expect(resolutionFor(errorM)).toBe(finest);
  });

  test('a text in which the numbers do not stand says nothing', () => {
    expect(typedErrorM('HN-6GHP4-83RFR', 21.0288, 105.8525)).toBe(0);
    expect(typedErrorM('', 21, 106)).toBe(0);
  });
});

// Codes over the telephone: every letter has a word of its own that begins with it, in both languages.
describe('words for the telephone', async () => {
  interface Symbol {
    readonly symbol: string;
    readonly word: string;
  }
  const { spelt, spelling } = await consoleModule<{
    spelt(code: string, language: string): Symbol[][];
    spelling(code: string, language: string): string;
  }>('words/spelling.ts');

  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

  test.each(['vi', 'en'])('%s: letters and digits', (language) => {
    const [letters = [], digits = []] = spelt(`${LETTERS}-0123456789`, language);
    for (const { symbol, word } of letters) expect(word.startsWith(symbol), `${symbol} ${word}`).toBe(true);
    expect(new Set(letters.map(({ word }) => word)).size).toBe(26);
    expect(new Set(digits.map(({ word }) => word)).size).toBe(10);
    expect(digits.every(({ word }) => /^\p{L}+$/u.test(word))).toBe(true);
  });

  test('a code as one text', () => {
    expect(spelling('HN-6GHP4', 'vi')).toBe(
      'H như Huế, N như Ninh Bình; sáu, G như Gia Lai, H như Huế, P như Phú Quốc, bốn',
    );
    expect(spelling('HUE-6H', 'en')).toBe('H as in Hotel, U as in Uniform, E as in Echo; six, H as in Hotel');
  });
});

// Values that parts of the page share, texts with names in them, and the colours and offsets of points.
describe('values and texts', async () => {
  vi.stubGlobal('navigator', { languages: ['vi-VN', 'en'] });
  const { Value } = await consoleModule<{
    Value: new <T>(
      now: T,
    ) => {
      now: T;
      set(value: T): void;
      tell(): void;
      on(f: (v: T) => void): void;
      each(f: (v: T) => void): void;
    };
  }>('shell/value.ts');
  const { say, number, language } = await consoleModule<{
    say(key: string, names?: Record<string, string | number>): string;
    number(value: number, most?: number): string;
    language: { now: string; set(value: string): void };
  }>('words/language.ts');
  const { TEXTS } = await consoleModule<{ TEXTS: Record<string, readonly [vi: string, en: string]> }>(
    'words/texts.ts',
  );
  const { mercatorX, mercatorY, provinceColor } = await consoleModule<{
    mercatorX(lng: number): number;
    mercatorY(lat: number): number;
    provinceColor(admin: number): readonly number[];
  }>('points/drawn-points.ts');

  test('a value has its present content, and `each` hears it at once', () => {
    const value = new Value(1);
    const heard: string[] = [];
    value.on((now) => heard.push(`on ${now}`));
    value.each((now) => heard.push(`each ${now}`));
    value.set(2);
    value.tell();
    expect(value.now).toBe(2);
    expect(heard).toEqual(['each 1', 'on 2', 'each 2', 'on 2', 'each 2']);
  });

  test('each text has both languages with equal placeholders, which are filled in', () => {
    const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
    for (const [key, [vi, en]] of Object.entries(TEXTS))
      expect([key, namesIn(vi)]).toEqual([key, namesIn(en)]);
    const alike = Object.keys(TEXTS).filter((key) => TEXTS[key]![0] === TEXTS[key]![1]);
    expect(alike.sort()).toEqual(['api', 'copyGeoJson']);
    expect(language.now).toBe('vi');
    expect(number(12_345.6, 1)).toBe('12.345,6');
    language.set('en');
    expect(say('ringsOf', { rings: 3, cells: '37' })).toBe(
      TEXTS.ringsOf![1].replace('{rings}', '3').replace('{cells}', '37'),
    );
    expect(say('ringsOf')).not.toMatch(/[{}]/);
  });

  test('Web Mercator: the edges of the world, the equator, and a place', () => {
    expect([mercatorX(-180), mercatorX(0), mercatorX(180), mercatorY(0)]).toEqual([0, 0.5, 1, 0.5]);
    expect(mercatorY(85.051_128_779_806_59)).toBeCloseTo(0, 9);
    expect(mercatorY(-85.051_128_779_806_59)).toBeCloseTo(1, 9);
    // x/y of the tile 12/3252/1803, which holds Hà Nội.
    expect([Math.floor(mercatorX(105.85) * 4096), Math.floor(mercatorY(21.03) * 4096)]).toEqual([3252, 1803]);
  });

  test('34 colours that differ, and grey', () => {
    const colors = Array.from({ length: 34 }, (_, admin) => provinceColor(admin).join());
    expect(new Set(colors).size).toBe(34);
    expect([provinceColor(34), provinceColor(255)].map((color) => color.join())).toEqual([
      '110,110,110',
      '110,110,110',
    ]);
    expect(colors).not.toContain('110,110,110');
    for (const color of colors)
      expect(color.split(',').every((part) => Number(part) >= 0 && Number(part) <= 255)).toBe(true);
  });
});
