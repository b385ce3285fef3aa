// Answers of the library in files, with which hosts of the kernel in other languages are compared.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { suggest } from '#hexcodes/geometry';
import { randomFrom } from './open-world.js';
import { shippedKernel } from './shipped.js';

/** Provinces, certainty and suggestions as the library has them. */
function answersOfTheLibrary(library: Hexcodes, random: () => number): string {
  const provinces = Array.from({ length: 3000 }, () => {
    const [lat, lng] = [7 + 17.5 * random(), 102 + 15 * random()];
    const border = library.borderOf(lat, lng);
    return {
      ...{ lat, lng, province: library.adminCodeOf(lat, lng), former: library.formerProvinceOf(lat, lng) },
      ...{ borderM: border?.border_m, certainty: border?.certainty, neighbour: border?.neighbour_code },
    };
  });
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ -/.đÂ\u00a0\ufeff😀';
  const letter = (): string => [...letters][Math.floor(random() * [...letters].length)]!;
  const suggestions = Array.from({ length: 150 }, (_, n) => {
    const { lat, lng } = provinces[n * 7]!;
    const code = library.encodeBatch(Float64Array.of(21 + random(), 105 + random()), 5 + (n % 10));
    const text = Buffer.from(code.subarray(0, 19)).toString('latin1').replace(/\0.*$/s, '');
    const at = Math.floor(random() * (text.length + 1));
    const cut = Math.floor(random() * 2);
    const typed =
      n % 9 === 0 ? text.replace(/^[A-Z]+-?/, '') : text.slice(0, at) + letter() + text.slice(at + cut);
    const near: [number, number] | undefined = n % 2 === 0 ? [lat, lng] : undefined;
    const limit = 1 + (n % 40);
    const found = suggest(library, typed, near === undefined ? { limit } : { near, limit });
    return { text: typed, near, limit, found };
  });
  return JSON.stringify({ provinces, suggestions, adminUnits: ADMIN_UNITS });
}

/** Writes points (f64 pairs), records of resolution 13 and answers.json into a new folder, which it returns. */
export function writeLibraryAnswers(count: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-answers-'));
  const random = randomFrom(38);
  const points = Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 0 ? 7 + 17.5 * random() : 102 + 15 * random(),
  );
  writeFileSync(join(folder, 'points'), points);
  const library = new Hexcodes(shippedKernel());
  writeFileSync(join(folder, 'records'), library.encodeBatch(points, 13));
  writeFileSync(join(folder, 'answers.json'), answersOfTheLibrary(library, random));
  return folder;
}
