// Messages of a bus: their formats, subjects, frames of positions, and Avro.

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import avsc from 'avsc';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { AvroReader } from '#dist/bus/messages/avro.js';
import {
  lastSequenceOf,
  PositionBatch,
  SEQUENCES_HEADER,
  SOURCES_HEADER,
} from '#dist/bus/messages/position-object.js';
import {
  answerByLibrary,
  converterOf,
  encodeFrame,
  haveCommon,
  isUnder,
  isWithin,
  loadLibrary,
  MessageLater,
  positionsOf,
  type Rules,
  readFormatRule,
  requirePattern,
  rulesOf,
  SubjectMap,
  shapeOf,
  UnreadableMessage,
  wordOf,
} from '../../support/engine/frames.js';

// Messages of each format become what the library says; a message that cannot be read says why.
const library = await loadLibrary();

describe('formats', () => {
  let code: string;
  beforeAll(async () => {
    code = library.encode(21.03, 105.85).hexcodes;
  });

  const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

  describe('how a message is read', () => {
    const rules = rulesOf({ formats: ['a.*=json', 'a.>=csv'].map(readFormatRule) });
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

    test.each(['a', 'a=xml', 'a b=csv', '=csv'])('%j is not a rule', (text) => {
      expect(() => readFormatRule(text)).toThrow();
    });
  });

  describe('conversion', () => {
    const convert = (
      text: string | Uint8Array,
      format: string,
      rules: Partial<Rules> = {},
      operation = 'encode',
    ) =>
      converterOf(library, rules).convert(typeof text === 'string' ? bytesOf(text) : text, {
        ...{ format, operation, resolution: 13 },
      } as ReturnType<typeof shapeOf>);
    const textOf = async (...args: Parameters<typeof convert>) =>
      new TextDecoder().decode((await convert(...args)).bytes);

    test.each([0, 1, 256, 5000])('a frame of %i points is answered as by the library', async (count) => {
      const latLng = positionsOf(count, count);
      const { bytes, points, failed } = await convert(encodeFrame(latLng, 7), 'frames');
      const wanted = answerByLibrary(library, latLng, 7);
      expect(Buffer.compare(bytes, wanted)).toBe(0);
      expect([points, failed]).toEqual([count, new DataView(wanted.buffer).getUint32(12, true)]);
    });

    test('CSV without a header row, by the columns of the rules', async () => {
      const rules = { columns: 'id,lng,lat' };
      expect(await textOf('7,105.85,21.03\r\n8,1,1', 'csv', rules)).toBe(
        `7,105.85,21.03,${code},13,HN,OK\r\n8,1,1,,13,,NOT_FOUND\n`,
      );
      expect(await convert('7,105.85,21.03\n8,1,1', 'csv', rules)).toMatchObject({ points: 2, failed: 1 });
      expect(await textOf('', 'csv')).toBe('');
      for (const columns of ['lat,lng', 'id,longitude,latitude'])
        for (const before of ['', '21,', '21,105\n', 'ờ,105.85,21.03\r\n'.repeat(20_000)]) {
          const text = `${before}${String.fromCharCode(0)}`;
          const fault = `Byte ${Buffer.byteLength(text)} of the body is NUL`;
          await expect(convert(text, 'csv', { columns })).rejects.toSatisfy(
            (error) => error instanceof UnreadableMessage && error.message.startsWith(fault),
          );
        }
    });

    test('CSV of more than one block', async () => {
      const rows = Array.from({ length: 40_000 }, (_, i) => `${21 + i / 1e5},105.85`);
      const lines = (await textOf(rows.join('\n'), 'csv')).trimEnd().split('\n');
      expect(lines.map((line) => line.split(',').slice(0, 2).join(','))).toEqual(rows);
      expect(lines.at(-1)).toContain(library.encode(21.39999, 105.85).hexcodes);
    });

    test('NDJSON, and hexcodes back', async () => {
      expect(await textOf('{"lat":21.03,"lng":105.85,"id":"a"}\n', 'ndjson')).toContain(
        `"hexcodes":"${code}"`,
      );
      const row = JSON.parse(await textOf(`{"hexcodes":"${code}"}`, 'ndjson', {}, 'decode'));
      expect(row).toMatchObject({ status: 'OK', resolution: 13 });
    });

    test.each(['\ufeff', '\u00a0', '\u2028\t'])(
      'an array behind %j is answered as an array',
      async (before) => {
        for (const items of [[], ['a'], ['a', 'b']]) {
          const text = JSON.stringify(items.map((id) => ({ id, lat: 21.03, lng: 105.85 })));
          const answers = JSON.parse(await textOf(`${before}${text}`, 'json')) as { id: string }[];
          expect(answers.map(({ id }) => id)).toEqual(items);
        }
      },
    );

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
        prefix: 'hex_',
      });
      expect(JSON.parse(prefixed)).toMatchObject({ status: 'on', hex_status: 'OK', hex_hexcodes: code });
    });

    const POINT = '{"type":"Point","coordinates":[105.85,21.03]}';
    test.each<[text: string, paths?: Rules['paths']]>([
      ['{"position.latitude":21.03,"position.longitude":105.85,"position.speed":3}'],
      [`{"type":"Feature","geometry":${POINT},"properties":{"id":7}}`],
      [`{"id":7,"location":${POINT}}`],
      [POINT],
      ['{"state":{"reported":{"latlng":"21.03,105.85"}}}', { lat: 'state.reported.latlng', lng: undefined }],
      ['{"a":{"b.c":[21.03,105.85]}}', { lat: 'a.b.c', lng: undefined }],
      [`{"a":[{},{"g":${POINT}}]}`, { lat: 'a.1.g', lng: undefined }],
      ['{"a":{"breite":"21.03"},"laenge":105.85,"lat":1,"lng":1}', { lat: 'a.breite', lng: 'laenge' }],
      ['{"gps":{"lat":21.03,"lon":105.85},"home":{"lat":1,"lon":1}}', { lat: 'gps', lng: undefined }],
    ])('%s is a position', async (text, paths) => {
      const answer = await textOf(text, 'json', paths ? { paths } : {});
      expect(JSON.parse(answer)).toMatchObject({ ...(JSON.parse(text) as object), hexcodes: code });
      await expect(convert(`[${text}]`, 'json', { paths })).resolves.toMatchObject({
        ...{ points: 1, failed: 0 },
      });
    });

    test('a path that leads nowhere is no position, and a value that is none fails', async () => {
      const rules = { paths: { lat: 'a.b', lng: undefined } };
      await expect(convert('{"a":{"c":1}}', 'json', rules)).rejects.toThrow(UnreadableMessage);
      for (const value of ['[21.03]', '[21.03,105.85,1]', '"here"', 'null', 'true', '{"type":"Point"}'])
        await expect(
          convert(`{"a":{"b":${value}}}`, 'json', rules).catch((error: Error) => error),
        ).resolves.toMatchObject(
          value.startsWith('{') ? { name: 'UnreadableMessage' } : { points: 1, failed: 1 },
        );
    });

    test('arrays of positions keep the text of each item, whatever members it has', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), { maxLength: 6 }),
          fc.constantFrom(0, 1, '\t'),
          async (items, indent) => {
            const own = items.map((item) => ({ more: item, lat: 21.03, lng: 105.85 }));
            const text = JSON.stringify(own, null, indent);
            const rules = { paths: { lat: 'lat', lng: 'lng' } };
            const answer = await textOf(text, 'json', rules);
            const added = { hexcodes: code, resolution: 13, admin_code: 'HN', status: 'OK' };
            expect(JSON.parse(answer)).toEqual(
              (JSON.parse(text) as object[]).map((item) => ({ ...item, ...added })),
            );
          },
        ),
      );
    });

    test.each([
      'no json',
      '[1]',
      'null',
      '[{"lat":21,"lng":105},{"lat":21}]',
      '{"lat":21,"lng":105,"lat_ref":"N","lng_ref":"E"}',
      '{"a":{"type":"Point","coordinates":[105,21]},"lat":21,"lng":105}',
      '{}',
      '{"lat":21}',
      '{"lat":21,"latitude":21,"lng":105}',
      '{"lat":21,"lat":22,"lng":105}',
      '[{"lat":21,"lng":105,"id":"a","id":"b"}]',
      '{"gps":{"lat":21,"lng":105},"gps":{"lat":10,"lng":106}}',
      '{"a":{"lat":1,"lng":1},"b":{"lat":1,"lng":1}}',
      '{"lat":21,"lng":105,"status":"on"}',
    ])('%s is not a position', async (text) => {
      await expect(convert(text, 'json')).rejects.toThrow(UnreadableMessage);
    });
  });
});

// Patterns of subjects, maps from the subject of a message to that of its answer, and ids as words of subjects.
describe('subjects', () => {
  const words = (text: string): string[] => text.split('.');

  test.each(['a', 'a.b', '*', '>', 'a.*.c', 'a.>', '*.*.>', 'xe-máy.7'])('%s is a pattern', (text) => {
    expect(requirePattern(text)).toEqual(words(text));
  });

  test.each(['', '.', 'a.', '.a', 'a..b', 'a.>.b', 'a b', 'a.b*', 'a>', '>.a', 'a\tb'])(
    '%j is none',
    (text) => {
      expect(() => requirePattern(text)).toThrow();
    },
  );

  test.each([
    ['fleet.*.points=fleet.*.hexcodes', 'fleet.7.points', 'fleet.7.hexcodes.id'],
    ['in.>=out.>', 'in.a.b.c', 'out.a.b.c.id'],
    ['*.in.*=answers.*.*', 'a.in.b', 'answers.a.b.id'],
    ['one=two', 'one', 'two.id'],
  ])('%s: the answer to %s goes to %s', (text, subject, answer) => {
    const map = new SubjectMap(text);
    expect(map.answerOf(subject, 'id')).toBe(answer);
    expect(isWithin(words(map.answers), words(answer))).toBe(true);
  });

  test('a subject of another map has no answer here', () => {
    const map = new SubjectMap('fleet.*.points=fleet.*.hexcodes');
    for (const subject of ['fleet.points', 'fleet.a.b.points', 'fleet.a.hexcodes', 'fleet'])
      expect(map.answerOf(subject, 'id')).toBeUndefined();
  });

  test.each([
    ['fleet', false],
    ['a=b=c', false],
    ['a.*=b', false],
    ['a.*.>=b.>.*', false],
    ['a.>=a.b.>', false],
    ['*.*=*.*', true],
    ['a.*=a.*', true],
    ['>=out.>', false],
  ])('the map %s is one: %j', (text, isMap) => {
    if (isMap) expect(new SubjectMap(text).answers).toContain('*');
    else expect(() => new SubjectMap(text)).toThrow();
  });

  const pattern = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([middle, isOpen]) => (isOpen ? [...middle, '>'] : middle));
  const subject = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 });

  test('a pattern within another has only subjects of it, and patterns without a common subject have none', () => {
    fc.assert(
      fc.property(pattern, pattern, subject, (one, other, parts) => {
        const text = parts.join('.');
        const [isOne, isOther] = [isUnder(one, text), isUnder(other, text)];
        if (isWithin(one, other) && isOther) expect(isOne).toBe(true);
        if (isOne && isOther) expect(haveCommon(one, other)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test('an id becomes one word, another for each', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
        expect(wordOf(one)).toMatch(/^[^\s.*>]+$/);
        expect(wordOf(one) === wordOf(other)).toBe(one === other);
      }),
    );
    expect(wordOf('frame-17')).toBe('frame-17');
    expect(wordOf('a.b c')).toBe('a%2Eb%20c');
    // All of RFC 3986's marks but those of numbers and names: `~` begins digests.
    expect(wordOf("!'()~*-_")).toBe('%21%27%28%29%7E%2A-_');
    expect(wordOf('x'.repeat(5000))).toMatch(/^~[0-9a-f]{64}$/);
    expect(wordOf('')).toMatch(/^~/);
  });
});

// A frame of single positions: it holds as many as it may, names the messages that it is made of, those without a
// position among them, and the vehicles in their order. Frames that no collector has made are told apart.
describe('frames of positions', () => {
  test('a frame holds no position more than it may', () => {
    const batch = new PositionBatch(7, 3);
    const added = [7, 8, 9, 10].map((seq) => batch.add(seq, seq, 105, `v${seq}`));
    expect([added, batch.points, batch.lastSeq]).toEqual([[true, true, true, false], 3, 9]);
    expect(batch.headers.get(SOURCES_HEADER)).toBe('["v7","v8","v9"]');
    const frame = batch.frame(12);
    expect([frame.length, new DataView(frame.buffer).getUint32(8, true)]).toEqual([16 + 3 * 16, 3]);
  });

  test('messages without a position belong to the frame', () => {
    const batch = new PositionBatch(5, 3);
    batch.skip(5);
    expect([batch.points, batch.lastSeq]).toEqual([0, 5]);
    batch.add(6, 21, 105, 'a');
    batch.skip(7);
    expect([batch.points, batch.lastSeq, batch.headers.get(SEQUENCES_HEADER)]).toEqual([1, 7, '5-7']);
  });

  test('a frame ends where the names of its vehicles are too long, and takes one at least', () => {
    const batch = new PositionBatch(1, 1000);
    const name = 'x'.repeat(1000);
    let seq = 1;
    while (batch.add(seq, 21, 105, name)) seq++;
    expect([batch.points, batch.headers.get(SOURCES_HEADER)!.length < 48 * 1024]).toEqual([49, true]);
    const large = new PositionBatch(1, 10);
    expect([large.add(1, 21, 105, 'x'.repeat(50_000)), large.add(2, 21, 105, 'y')]).toEqual([true, false]);
  });

  test('the last message of a frame, and frames that no collector has made', () => {
    const frame = 'hexcodes.in.collected.17';
    expect(lastSequenceOf(frame, '17-17', 17)).toBe(17);
    expect(lastSequenceOf(frame, '17-240', 300)).toBe(240);
    for (const [header, lastSeq] of [
      ['18-240', 300],
      ['17-16', 300],
      ['17-301', 300],
      ['17-99999999999999999999', 300],
      ['017-240', 300],
      ['17-1e2', 300],
      ['17', 300],
      [undefined, 300],
    ] as const)
      expect(() => lastSequenceOf(frame, header, lastSeq)).toThrow();
  });
});

// Messages in Avro with the frame of a schema registry: their values as JSON, their codes, and what is refused or put
// off.

const POSITION = {
  type: 'record',
  name: 'Position',
  fields: [
    { name: 'id', type: 'long' },
    {
      name: 'gps',
      type: {
        type: 'record',
        name: 'Gps',
        fields: ['lat', 'lng'].map((name) => ({ name, type: ['null', 'int', 'double'] })),
      },
    },
    { name: 'fuel', type: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 3 } },
    { name: 'raw', type: 'bytes' },
  ],
};
const DECIMALS = {
  type: 'record',
  name: 'Decimals',
  fields: ['lat', 'lng'].map((name) => ({
    name,
    type: { type: 'fixed', name: `fixed_${name}`, size: 8, logicalType: 'decimal', precision: 18, scale: 6 },
  })),
};
function tracked(tags: object): object {
  const fields = ['lat', 'lng'].map((name) => ({ name, type: 'double' }));
  return { type: 'record', name: 'Tracked', fields: [...fields, { name: 'tags', type: tags }] };
}
const SCHEMAS: Record<string, object> = {
  7: { schema: JSON.stringify(POSITION) },
  8: { schema: JSON.stringify(DECIMALS) },
  9: { schema: 'syntax = "proto3";', schemaType: 'PROTOBUF' },
  10: { schema: '{"type":"record","name":"R","fields":[{"name":"gps","type":"other.Gps"}]}' },
  20: { schema: JSON.stringify(tracked({ type: 'array', items: 'string' })) },
  21: { schema: JSON.stringify(tracked({ type: 'map', values: 'string' })) },
  22: { schema: JSON.stringify(tracked({ type: 'array', items: { type: 'array', items: 'null' } })) },
};

/** Answers of a registry that are valid JSON to their end, which comes late or never. */
const HOSTILE: Record<string, (response: ServerResponse) => void> = {
  // 64 MiB in 64 KiB.
  31: (response) => {
    const schema = JSON.stringify({ schema: JSON.stringify(POSITION) });
    response.setHeader('Content-Encoding', 'gzip');
    response.end(gzipSync(Buffer.concat([Buffer.alloc(64 << 20, ' '), Buffer.from(schema)])));
  },
  32: (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  },
};

let registry: Server;
let status = 0;
const asked: string[] = [];
let reader: AvroReader;

beforeAll(async () => {
  registry = createServer((request, response) => {
    const id = /^\/base\/schemas\/ids\/(\d+)$/.exec(request.url ?? '')?.[1] ?? '';
    asked.push(id);
    if (id in HOSTILE) return HOSTILE[id]!(response);
    response.statusCode = status || (id in SCHEMAS ? 200 : 404);
    response.end(JSON.stringify(SCHEMAS[id] ?? { error_code: 40_403 }));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  reader = await AvroReader.open(`http://127.0.0.1:${(registry.address() as AddressInfo).port}/base/`);
});
afterAll(() => registry?.close());

function framed(schema: number, value: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(schema, 1);
  return Buffer.concat([head, value]);
}
/** Longs are given as BigInt here. */
const long = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  ...{ fromJSON: BigInt, toJSON: Number, isValid: () => true, compare: () => 0 },
} as never);
const positionType = avsc.Type.forSchema(POSITION as never, { registry: { long }, wrapUnions: 'always' });
const position = (id: bigint, lat: object | null, lng: object | null): Buffer =>
  framed(
    7,
    positionType.toBuffer({ id, gps: { lat, lng }, fuel: Buffer.from([0xfe, 0x0c]), raw: Buffer.from('21') }),
  );
const answer = async (bytes: Buffer): Promise<unknown> => {
  const converter = converterOf(library, {}, reader);
  const { bytes: made } = await converter.convert(bytes, {
    format: 'avro',
    operation: 'encode',
    resolution: 13,
  });
  return JSON.parse(Buffer.from(made).toString());
};

test('a record becomes its JSON with a code; integers and decimals keep all digits, bytes are not text of digits', async () => {
  const wanted = { gps: { lat: 21.0288, lng: 105.8525 }, fuel: '-0.500', raw: 'base64:MjE=' };
  expect(await answer(position(12n, { double: 21.0288 }, { double: 105.8525 }))).toEqual({
    ...{ id: 12, ...wanted, hexcodes: 'HN-6GHP4-83RFR', resolution: 13, admin_code: 'HN', status: 'OK' },
  });
  const large = await answer(position(2n ** 60n + 1n, { int: 21 }, { double: 105.8525 }));
  expect(large).toMatchObject({ id: '1152921504606846977', gps: { lat: 21 }, status: 'OK' });
  expect(asked).toEqual(['7']);
});

test.each([31, 32])('an answer of the registry without a bound is read to 4 MiB: %i', async (schema) => {
  await expect(answer(framed(schema, Buffer.alloc(16)))).rejects.toThrow(/more than 4194304 bytes/);
});

test('decimals are degrees', async () => {
  const value = Buffer.alloc(16);
  value.writeBigInt64BE(21_028_800n);
  value.writeBigInt64BE(105_852_500n, 8);
  expect(await answer(framed(8, value))).toMatchObject({ lat: '21.028800', hexcodes: 'HN-6GHP4-83RFR' });
  value.writeBigInt64BE(-5n);
  expect(await answer(framed(8, value))).toMatchObject({ lat: '-0.000005', status: 'NOT_FOUND' });
});

test.each([
  [Buffer.from('{"lat":21}'), 'not Avro of a schema registry'],
  [framed(7, Buffer.alloc(0)), 'not Avro of a schema registry'],
  [framed(7, Buffer.from([2])), 'its value is not of its schema'],
  [Buffer.concat([position(1n, null, null), Buffer.of(0)]), 'its value is not of its schema'],
  [framed(9, Buffer.of(1)), 'schema 9 cannot be used: it is of the kind PROTOBUF'],
  [framed(10, Buffer.of(1)), 'schema 10 cannot be used: undefined type name: other.Gps'],
  [framed(11, Buffer.of(1)), 'the registry has no schema 11'],
])('%# is refused, with the reason', async (bytes, why) => {
  const refused = answer(bytes);
  await expect(refused).rejects.toThrow(UnreadableMessage);
  await expect(refused).rejects.toThrow(why);
});

/** A position, and what follows it. */
const blocks = (schema: number, ...bytes: number[]): Buffer => {
  const degrees = Buffer.alloc(16);
  degrees.writeDoubleLE(21.0288);
  degrees.writeDoubleLE(105.8525, 8);
  return framed(schema, Buffer.concat([degrees, Buffer.from(bytes)]));
};
const A = [2, 0x61];
/** A count of 2^31 items, and of as many as fit into ten bytes. */
const MANY = [0x80, 0x80, 0x80, 0x80, 0x10];
const MOST = [...new Array(9).fill(0xff), 0x7f];

test('arrays and maps come in blocks, with and without their size, and any key is a member', async () => {
  const lists: [number[], string[]][] = [
    [[0], []],
    [
      [4, ...A, ...A, 0],
      ['a', 'a'],
    ],
    [
      [3, 8, ...A, ...A, 2, ...A, 0],
      ['a', 'a', 'a'],
    ],
  ];
  for (const [bytes, tags] of lists)
    expect(await answer(blocks(20, ...bytes))).toMatchObject({ tags, status: 'OK' });
  const key = Buffer.from('__proto__');
  const { tags } = (await answer(blocks(21, 4, 18, ...key, ...A, ...A, ...A, 0))) as { tags: object };
  expect(Object.entries(tags)).toEqual([
    ['__proto__', 'a'],
    ['a', 'a'],
  ]);
});

test.each([
  [blocks(20, ...MANY), 'ends after the message'],
  [blocks(20, ...MOST), 'ends after the message'],
  [blocks(21, ...MANY), 'ends after the message'],
  [blocks(21, ...MOST), 'ends after the message'],
  [blocks(22, 2, ...MANY), 'items without bytes'],
])('counts of items that are not there are refused, %#', async (bytes, why) => {
  const refused = answer(bytes);
  await expect(refused).rejects.toThrow(UnreadableMessage);
  await expect(refused).rejects.toThrow(why);
});

test('a registry that does not answer puts a message off, and refuses none', async () => {
  SCHEMAS[12] = SCHEMAS[7]!;
  const bytes = Buffer.from(position(1n, { double: 21.0288 }, { double: 105.8525 }));
  bytes.writeUInt32BE(12, 1);
  status = 503;
  await expect(answer(bytes)).rejects.toThrow(MessageLater);
  status = 0;
  expect(await answer(bytes)).toMatchObject({ hexcodes: 'HN-6GHP4-83RFR' });
  const away = await AvroReader.open('http://127.0.0.1:1');
  await expect(away.jsonOf(bytes)).rejects.toThrow(MessageLater);
});

test('a schema that the registry gets after its first messages is asked for again, and not for each', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());

  const bytes = Buffer.from(position(1n, { double: 21.0288 }, { double: 105.8525 }));
  bytes.writeUInt32BE(13, 1);
  const timesAsked = (): number => asked.filter((id) => id === '13').length;
  await expect(answer(bytes)).rejects.toThrow('the registry has no schema 13');
  SCHEMAS[13] = SCHEMAS[7]!;
  await expect(answer(bytes)).rejects.toThrow('the registry has no schema 13');
  expect(timesAsked()).toBe(1);
  vi.advanceTimersByTime(10_000);
  expect(await answer(bytes)).toMatchObject({ hexcodes: 'HN-6GHP4-83RFR' });
  expect(timesAsked()).toBe(2);
});

test.each(['registry:8081', 'ftp://registry', 'http://me:secret@registry', 'http://:secret@registry', ''])(
  '%j is not a registry',
  async (address) => {
    await expect(AvroReader.open(address)).rejects.toThrow('--schema-registry must be an address');
  },
);
