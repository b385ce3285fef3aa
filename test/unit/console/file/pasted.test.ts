// Lines that were pasted without a header row get one where two of their numbers are a position of Viet Nam.
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

const { withHeader, looksLikeJson, encodingOf } = await consoleModule<{
  encodingOf(beginning: Uint8Array): string;
  withHeader(text: string): string;
  looksLikeJson(text: string): boolean;
}>('file/pasted.ts');

test.each([
  ['21.0288,105.8525\n10.7,106.7', 'lat,lng'],
  ['105.8525\t21.0288', 'lng\tlat'],
  ['Hồ Gươm;21,0288;105,8525', 'column_1;lat;lng'],
  ['7,"21.03",105.85', 'column_1,lat,lng'],
  [`a;21°01'43.68"N;105°51'09"E`, 'column_1;lat;lng'],
  [`"21°01'43.68""N","105°51'09""E"`, 'lat,lng'],
  ['  \n105.8|z|21.03', 'lng|column_2|lat'],
])('%j', (text, header) => {
  expect(withHeader(text)).toBe(`${header}\n${text.trimStart()}`);
});

test.each([
  ['lat,lng\n21.03,105.85'],
  ['21,105'],
  ['105.85,106.7'],
  ['21.03,22.5'],
  ['91.5,170.2'],
  ['21.03,181.5'],
  ['{"lat":21.03,"lng":105.85}'],
  ['[21.03,105.85]'],
])('%j stays as it is', (text) => {
  expect(withHeader(text)).toBe(text);
});

test.each([
  ['HN-6GHP4-83RFR\nHCM-GXC6M-QHR2P', 'hexcodes\nHN-6GHP4-83RFR\nHCM-GXC6M-QHR2P'],
  ['hn6ghp483rfr', 'hexcodes\nhn6ghp483rfr'],
  ['1;HN-6GHP4-83RFR', 'column_1;hexcodes\n1;HN-6GHP4-83RFR'],
  ['stt,Mã\n1,HN-6GHP4', 'stt,hexcodes\n1,HN-6GHP4'],
  ['Ma\u0303 vi\u0323 tri\u0301\nHN-6GHP4', 'hexcodes\nHN-6GHP4'],
])('%j is a list of codes', (text, table) => {
  expect(withHeader(text)).toBe(table);
});

test('encodings of old programs are told by the first bytes', () => {
  const text = 'tên,vĩ độ,kinh độ\nHồ Gươm,21.0288,105.8525\n';
  const utf16 = Buffer.from(text, 'utf16le');
  const swapped = Buffer.from(utf16).swap16();
  const utf8 = Buffer.from(text);
  expect(encodingOf(utf8)).toBe('utf-8');
  // The end of the first piece of a file lies anywhere.
  for (let size = 1; size < 12; size++) expect(encodingOf(utf8.subarray(0, size))).toBe('utf-8');
  expect(encodingOf(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]))).toBe('utf-16le');
  expect(encodingOf(Buffer.concat([Buffer.from([0xfe, 0xff]), swapped]))).toBe('utf-16be');
  expect(encodingOf(Buffer.from('lat,lng\n21.0,105.8\n', 'utf16le'))).toBe('utf-16le');
  expect(encodingOf(Buffer.from([0x74, 0xea, 0x6e, 0x2c, 0x6c, 0x61, 0x74]))).toBe('windows-1258');
});

test('JSON or a table', () => {
  expect([' {"a":1}', '[1]', 'a,b', '"HN"'].map(looksLikeJson)).toEqual([true, true, false, false]);
});
