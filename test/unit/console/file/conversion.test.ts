// A file that is converted in the page: the bytes that the command would write, and what is counted beside them.
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BlockBuffers } from '#dist/hexcodes/wire/bulk/block-buffers.js';
import { FileConversion, requestFor } from '../../../support/console-conversion.js';

const hexcodes = await Hexcodes.load();

function converted(text: string, input = 'csv', chunkBytes = Number.POSITIVE_INFINITY) {
  const bytes = Buffer.from(text);
  const request = requestFor(bytes, input, 13);
  const conversion = new FileConversion(hexcodes.kernel, request, new BlockBuffers());
  const answers: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    answers.push(...conversion.push(bytes.subarray(at, at + chunkBytes)));
  answers.push(...conversion.end());
  return { text: Buffer.concat(answers).toString(), tally: conversion.tally };
}

test('CSV, in chunks of any size', () => {
  const csv = 'id,lat,lng\n1,21.0288,105.8525\n2,10.7769,106.7009\n';
  const whole =
    'id,lat,lng,hexcodes,resolution,admin_code,status\n' +
    '1,21.0288,105.8525,HN-6GHP4-83RFR,13,HN,OK\n2,10.7769,106.7009,HCM-GXC6M-MGY2X,13,HCM,OK\n'.replace(
      'HCM-GXC6M-MGY2X',
      hexcodes.encode(10.7769, 106.7009, 13).hexcodes,
    );
  for (const size of [1, 7, 1000]) expect(converted(csv, 'csv', size).text).toBe(whole);
  const { tally } = converted(csv);
  expect([tally.rows, tally.byStatus[0], tally.byAdmin.reduce((a, b) => a + b, 0)]).toEqual([2, 2, 2]);
});

test('rows and provinces of many blocks are added up, and the first three failed rows of each kind are shown', () => {
  const rows = Array.from({ length: 30_000 }, (_, i) =>
    i % 5000 === 4999 ? `48.${i},2.29` : i % 5000 === 2500 ? 'x,105' : '21.0288,105.8525',
  );
  const { tally } = converted(`lat,lng\n${rows.join('\n')}\n`, 'csv', 65_536);
  expect([tally.rows, tally.byStatus.reduce((a, b) => a + b, 0)]).toEqual([30_000, 30_000]);
  expect(Math.max(...tally.byAdmin)).toBe(29_988);
  const of = (status: string) => tally.examples.filter((each) => each.status === status);
  expect(of('NOT_FOUND').map(({ row }) => row)).toEqual([5000, 10_000, 15_000]);
  expect(of('INVALID_REQUEST').map(({ row }) => row)).toEqual([2501, 7501, 12_501]);
  expect(of('INVALID_REQUEST')[0]).toMatchObject({
    text: 'x,105',
    reasons: [expect.stringMatching(/^lat /)],
  });
  expect(of('NOT_FOUND')[0]).toMatchObject({ text: '48.4999,2.29', reasons: [] });
});

test('positions are encoded, codes decoded; columns that are there already get a prefix', () => {
  const request = (text: string, input = 'csv') => {
    const { operation, prefix } = requestFor(Buffer.from(text), input, 9);
    return [operation, prefix];
  };
  expect(request('lat,lng\n1,2\n')).toEqual(['encode', '']);
  expect(request('hexcodes\nHN-6GHP4\n')).toEqual(['decode', '']);
  expect(request('lat,lng,status\n1,2,x\n')).toEqual(['encode', 'hexcodes_']);
  expect(request('hexcodes,lat\nHN-6GHP4,1\n')).toEqual(['decode', 'hexcodes_']);
  expect(() => request('a,b\n1,2\n')).toThrow(/lat/);
  expect(request('{"lat":1,"lng":2}\n', 'ndjson')).toEqual(['encode', '']);
  expect(request('{"hexcodes":"HN-6GHP4"}\n', 'ndjson')).toEqual(['decode', '']);
  expect(request('"HN-6GHP4"\n', 'ndjson')).toEqual(['decode', '']);
  expect(request('  [21,105]\n', 'ndjson')).toEqual(['encode', '']);
  const { tally } = converted('lat,lng,status\n21.0288,105.8525,x\n');
  expect(tally.prefix).toBe('hexcodes_');
});

test('a long row is shown by its beginning', () => {
  const { tally } = converted(`lat,lng,name\nx,105,${'n'.repeat(300)}\n`);
  expect(tally.examples[0]?.text).toBe(`x,105,${'n'.repeat(114)}…`);
});

test('the file of failed rows has one header row, whenever it is taken', () => {
  const bytes = Buffer.from('lat,lng\nx,1\n');
  const request = requestFor(bytes, 'csv', 13);
  const conversion = new FileConversion(hexcodes.kernel, request, new BlockBuffers());
  conversion.push(bytes);
  conversion.end();
  const first = Buffer.concat(conversion.takeFailed()).toString();
  expect(first.split('\n')[0]).toMatch(/^lat,lng,/);
  const again = new FileConversion(hexcodes.kernel, request, new BlockBuffers());
  const rows: string[] = [];
  for (const part of ['lat,lng\nx,1\n', `y,1\n${'z,1\n'.repeat(90_000)}`]) {
    again.push(Buffer.from(part));
    rows.push(Buffer.concat(again.takeFailed()).toString());
  }
  again.end();
  rows.push(Buffer.concat(again.takeFailed()).toString());
  expect(rows.join('').split('lat,lng,').length - 1).toBe(1);
});

test('a header that is shown instead may have any characters', () => {
  const bytes = Buffer.from('lat,lng\n21.0288,105.8525\n');
  const request = requestFor(bytes, 'csv', 13);
  const shown = { header: { read: 'lat,lng', shown: "$& $1 $$ $',lng" } };
  const conversion = new FileConversion(hexcodes.kernel, request, new BlockBuffers(), shown as never);
  const text = Buffer.concat([...conversion.push(bytes), ...conversion.end()]).toString();
  expect(text.startsWith("$& $1 $$ $',lng,")).toBe(true);
});

test('failed lines of NDJSON are kept, the others are not', () => {
  const lines = [
    '{"lat":21.0288,"lng":105.8525}',
    '{"lat":"x","lng":1}',
    '{"lat":48.8,"lng":2.3}',
    '{"lat":10.7769,"lng":106.7009}',
  ];
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  const conversion = new FileConversion(hexcodes.kernel, requestFor(bytes, 'ndjson', 13), new BlockBuffers());
  conversion.push(bytes);
  conversion.end();
  const failed = Buffer.concat(conversion.takeFailed()).toString().trim().split('\n');
  expect(failed.map((line) => (JSON.parse(line) as { lat: unknown }).lat)).toEqual([null, 48.8]);
});
