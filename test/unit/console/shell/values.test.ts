// Values that parts of the page share, texts with names in them, and the colours and offsets of points.
import { expect, test, vi } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

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
const { TEXTS } = await consoleModule<{ TEXTS: Record<'vi' | 'en', Record<string, string>> }>(
  'words/texts.ts',
);
const { mercatorX, mercatorY, provinceColor } = await consoleModule<{
  mercatorX(lng: number): number;
  mercatorY(lat: number): number;
  provinceColor(admin: number): readonly number[];
}>('points/drawn-points.ts');

test('a value tells what it is now, and those who ask are told at once', () => {
  const value = new Value(1);
  const heard: string[] = [];
  value.on((now) => heard.push(`on ${now}`));
  value.each((now) => heard.push(`each ${now}`));
  value.set(2);
  value.tell();
  expect(value.now).toBe(2);
  expect(heard).toEqual(['each 1', 'on 2', 'each 2', 'on 2', 'each 2']);
});

test('both languages have the same texts with the same names, which are filled in', () => {
  expect(Object.keys(TEXTS.en).sort()).toEqual(Object.keys(TEXTS.vi).sort());
  const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
  for (const [key, text] of Object.entries(TEXTS.en))
    expect([key, namesIn(TEXTS.vi[key]!)]).toEqual([key, namesIn(text)]);
  expect(language.now).toBe('vi');
  expect(number(12_345.6, 1)).toBe('12.345,6');
  language.set('en');
  expect(say('ringsOf', { rings: 3, cells: '37' })).toBe(
    TEXTS.en.ringsOf!.replace('{rings}', '3').replace('{cells}', '37'),
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
