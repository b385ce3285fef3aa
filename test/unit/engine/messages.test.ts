// Messages of each format become what the library says; a message that cannot be read says why.
import { beforeAll, describe, expect, test } from 'vitest';
import { MessageConverter } from '#dist/bus/messages/message-converter.js';
import { DEFAULT_RULES, readFormatRule, shapeOf } from '#dist/bus/messages/message-shape.js';
import { readPositionObject, vehicleOf } from '#dist/bus/messages/position-object.js';
import { RequestAnswerer } from '#dist/bus/messages/request-answer.js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { answerByLibrary, encodeFrame, loadLibrary, positionsOf } from '../../support/engine/frames.js';

let library: Hexcodes;
let code: string;
beforeAll(async () => {
  library = await loadLibrary();
  code = library.encode(21.03, 105.85).hexcodes;
});

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('how a message is read', () => {
  const rules = { ...DEFAULT_RULES, formats: ['a.*=json', 'a.>=csv'].map(readFormatRule) };
  const shape = (subject: string, headers: Record<string, string> = {}) =>
    shapeOf(subject, new Map(Object.entries(headers)), rules);

  test('by its headers, else by the first rule for its subject, else as a frame', () => {
    expect(shape('b').format).toBe('frames');
    expect(shape('a.b').format).toBe('json');
    expect(shape('a.b.c').format).toBe('csv');
    expect(shape('a.b', { 'Hexcodes-Format': 'NDJSON' }).format).toBe('ndjson');
    expect(shape('b', { 'Hexcodes-Resolution': '9', 'Hexcodes-Operation': 'decode' })).toEqual({
      ...{ format: 'frames', operation: 'decode', resolution: 9 },
    });
  });

  test.each([
    [{ 'Hexcodes-Format': 'xml' }, 'Hexcodes-Format must be one of frames, ndjson, csv, json, not "xml"'],
    [{ 'Hexcodes-Resolution': '16' }, 'Hexcodes-Resolution must be an integer from 0 to 15, not "16"'],
    [{ 'Hexcodes-Operation': 'x'.repeat(99) }, 'Hexcodes-Operation must be one of encode, decode'],
    [{ 'Hexcodes-Format': 'json', 'Hexcodes-Operation': 'decode' }, 'can only be encoded'],
  ])('%j is refused', (headers, why) => {
    expect(() => shape('b', headers)).toThrow(why);
  });

  test.each(['a', 'a=xml', 'a b=csv', '=csv'])('%j is no rule', (text) => {
    expect(() => readFormatRule(text)).toThrow();
  });
});

describe('conversion', () => {
  const convert = (text: string | Uint8Array, format: string, rules = DEFAULT_RULES, operation = 'encode') =>
    new MessageConverter(library.kernel, rules).convert(typeof text === 'string' ? bytesOf(text) : text, {
      ...{ format, operation, resolution: 13 },
    } as Parameters<MessageConverter['convert']>[1]);
  const textOf = async (...args: Parameters<typeof convert>) =>
    new TextDecoder().decode((await convert(...args)).bytes);

  test.each([0, 1, 256, 5000])('a frame of %i points is answered as by the library', async (count) => {
    const latLng = positionsOf(count, count);
    const { bytes, points, failed } = await convert(encodeFrame(latLng, 7), 'frames');
    const wanted = answerByLibrary(library, latLng, 7);
    expect(Buffer.compare(bytes, wanted)).toBe(0);
    expect([points, failed]).toEqual([count, new DataView(wanted.buffer).getUint32(12, true)]);
  });

  test.each([
    [new Uint8Array(0), 'a frame has a header of 16 bytes, and the message has 0'],
    [encodeFrame(new Float64Array(4)).subarray(0, -1), 'has 48 bytes, and the message has 47'],
    [new Uint8Array(16), 'the header is not that of a request frame'],
    [Uint8Array.from([1, 1, 99, 0, ...new Array(12).fill(0)]), 'a value that there is not'],
  ])('a damaged frame %#', async (bytes, why) => {
    await expect(convert(bytes, 'frames')).rejects.toThrow(why);
  });

  test('CSV without a header row, by the columns of the rules', async () => {
    const rules = { ...DEFAULT_RULES, columns: 'id,lng,lat' };
    expect(await textOf('7,105.85,21.03\r\n8,1,1', 'csv', rules)).toBe(
      `7,105.85,21.03,${code},13,HN,OK\r\n8,1,1,,13,,NOT_FOUND\n`,
    );
    expect(await convert('7,105.85,21.03\n8,1,1', 'csv', rules)).toMatchObject({ points: 2, failed: 1 });
    expect(await textOf('', 'csv')).toBe('');
    await expect(convert(`21,${String.fromCharCode(0)}`, 'csv')).rejects.toThrow('is NUL');
  });

  test('CSV of more than one block', async () => {
    const rows = Array.from({ length: 40_000 }, (_, i) => `${21 + i / 1e5},105.85`);
    const lines = (await textOf(rows.join('\n'), 'csv')).trimEnd().split('\n');
    expect(lines.map((line) => line.split(',').slice(0, 2).join(','))).toEqual(rows);
    expect(lines.at(-1)).toContain(library.encode(21.39999, 105.85).hexcodes);
  });

  test('NDJSON, and hexcodes back', async () => {
    expect(await textOf('{"lat":21.03,"lng":105.85,"id":"a"}\n', 'ndjson')).toContain(`"hexcodes":"${code}"`);
    const row = JSON.parse(await textOf(`{"hexcodes":"${code}"}`, 'ndjson', DEFAULT_RULES, 'decode'));
    expect(row).toMatchObject({ status: 'OK', resolution: 13 });
  });

  test('a JSON object keeps its text, and gets four members', async () => {
    const before = '{"n":12345678901234567890, "lat":21.03,"lng":1.0585e2 ,"tags":["a"]}';
    const members = `"hexcodes":"${code}","resolution":13,"admin_code":"HN","status":"OK"}`;
    expect(await textOf(` ${before}\n`, 'json')).toBe(`${before.slice(0, -1)},${members}`);
    const outside = JSON.parse(await textOf('{"lat":1,"lng":1}', 'json'));
    expect(outside).toEqual({
      ...{ lat: 1, lng: 1, hexcodes: null, resolution: 13, admin_code: null, status: 'NOT_FOUND' },
    });
    expect(JSON.parse(await textOf('{"lat":"x","lng":1}', 'json')).status).toBe('INVALID_REQUEST');
    const prefixed = await textOf('{"lat":21.03,"lng":105.85,"status":"on"}', 'json', {
      ...DEFAULT_RULES,
      prefix: 'hex_',
    });
    expect(JSON.parse(prefixed)).toMatchObject({ status: 'on', hex_status: 'OK', hex_hexcodes: code });
  });

  test.each([
    ['no json', 'it is no JSON'],
    ['[]', 'it is no JSON object'],
    ['null', 'it is no JSON object'],
    ['{}', 'no members for latitude and longitude'],
    ['{"lat":21}', 'no members for latitude and longitude'],
    ['{"lat":21,"latitude":21,"lng":105}', 'more than one of its members could be latitude'],
    ['{"a":{"lat":1,"lng":1},"b":{"lat":1,"lng":1}}', 'more than one of its members could be the position'],
    ['{"lat":21,"lng":105,"status":"on"}', 'it has a member "status" already'],
  ])('%s is no position', async (text, why) => {
    await expect(convert(text, 'json')).rejects.toThrow(why);
  });
});

test.each([
  [
    '{"position":{"latitude":21.03,"longitude":105.85,"deviceId":3},"device":{"id":3,"uniqueId":"358"}}',
    '358',
  ],
  ['{"id":7,"lat":"21.03","lon":105.85}', '7'],
  ['{"gps":{"imei":"9","lat":21.03,"lng":105.85}}', '9'],
  ['{"lat":21.03,"lng":105.85}', undefined],
])('the vehicle of %s', (text, vehicle) => {
  const object = readPositionObject(bytesOf(text));
  expect([object.latDeg, object.lngDeg, vehicleOf(object)]).toEqual([21.03, 105.85, vehicle]);
});

test('the id of a vehicle has 1,000 characters at most', () => {
  const object = (id: string) =>
    readPositionObject(new TextEncoder().encode(JSON.stringify({ lat: 1, lng: 2, id })));
  expect(vehicleOf(object('x'.repeat(1000)))).toHaveLength(1000);
  expect(() => vehicleOf(object('x'.repeat(1001)))).toThrow('its id has 1001 characters, and may have 1000');
});

test('a request is answered by the endpoint of its operation', async () => {
  const answerer = new RequestAnswerer((await loadLibrary()).kernel);
  const frame = encodeFrame(positionsOf(1, 2));
  expect(answerer.answer('encode', frame)).toMatchObject({ points: 2 });
  expect(() => answerer.answer('decode', frame)).toThrow('the frame is not one to decode');
  expect(() => answerer.answer('encode', frame.subarray(0, -1))).toThrow('the request is no whole frame');
});
