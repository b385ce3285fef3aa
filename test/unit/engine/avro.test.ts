// Messages in Avro with the frame of a schema registry: their values as JSON, their codes, and what is refused or put
// off.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import avsc from 'avsc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AvroReader } from '#dist/bus/messages/avro.js';
import type { Hexcodes } from '#hexcodes';
import { converterOf, loadLibrary, MessageLater, UnreadableMessage } from '../../support/engine/frames.js';

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
const SCHEMAS: Record<string, object> = {
  7: { schema: JSON.stringify(POSITION) },
  8: { schema: JSON.stringify(DECIMALS) },
  9: { schema: 'syntax = "proto3";', schemaType: 'PROTOBUF' },
  10: { schema: '{"type":"record","name":"R","fields":[{"name":"gps","type":"other.Gps"}]}' },
};

let library: Hexcodes;
let registry: Server;
let status = 0;
const asked: string[] = [];
let reader: AvroReader;

beforeAll(async () => {
  library = await loadLibrary();
  registry = createServer((request, response) => {
    const id = /^\/base\/schemas\/ids\/(\d+)$/.exec(request.url ?? '')?.[1] ?? '';
    asked.push(id);
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

test.each(['registry:8081', 'ftp://registry', 'http://me:secret@registry', ''])(
  '%j is not a registry',
  async (address) => {
    await expect(AvroReader.open(address)).rejects.toThrow('--schema-registry must be an address');
  },
);
