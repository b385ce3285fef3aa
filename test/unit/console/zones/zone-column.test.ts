// The column of zones: behind the last field of each row, whatever its quotes, line ends and failed rows.
import { expect, test } from 'vitest';
import type * as Column from '../../../../src/console/file/zone-column.js';
import { consoleModule } from '../../../support/console-module.js';

const { ZoneColumn, zoneColumn } = await consoleModule<typeof Column>('file/zone-column.ts');
const NONE = 255;

function added(
  text: string,
  zones: number[],
  failed: [start: number, end: number][] = [],
  delimiter?: string,
) {
  const column = new ZoneColumn(['A', 'B, "b"'], delimiter);
  const bounds = failed.map(([answerStart, answerEnd]) => ({ answerStart, answerEnd }));
  return new TextDecoder().decode(
    column.added(new TextEncoder().encode(text), Uint8Array.from(zones), bounds),
  );
}

test('rows of a table', () => {
  expect(added('1,OK\n2,OK\n', [0, NONE], [], ',')).toBe('1,OK,A\n2,OK,\n');
  expect(added('1;OK\r\n', [1], [], ';')).toBe('1;OK;"B, ""b"""\r\n');
  expect(added('1\tOK\n', [1], [], '\t')).toBe('1\tOK\t"B, ""b"""\n');
  // Line ends and quotes in quoted fields; a quote inside of a field that is not quoted.
  expect(added('"a\n""b""\r\n",OK\n5" pipe,OK\n', [0, 0], [], ',')).toBe(
    '"a\n""b""\r\n",OK,A\n5" pipe,OK,A\n',
  );
  expect(added('"a"b\n', [0], [], ',')).toBe('"a"b,A\n');
});

test('a failed row is taken as it is, with a quote that is not closed', () => {
  const text = '1,OK\n"2,x\n3",y,INVALID_REQUEST\n4,OK\n';
  const start = text.indexOf('"2');
  const end = text.indexOf('4,OK');
  expect(added(text, [0, NONE, 1], [[start, end]], ',')).toBe(
    '1,OK,A\n"2,x\n3",y,INVALID_REQUEST,\n4,OK,"B, ""b"""\n',
  );
});

test('lines of JSON get a member', () => {
  expect(added('{"id":"}"}\n{"id":1}\n', [1, NONE])).toBe(
    '{"id":"}","zone":"B, \\"b\\""}\n{"id":1,"zone":null}\n',
  );
});

test('rows without their zone are refused, not shifted', () => {
  expect(() => added('1\n2\n', [0], [], ',')).toThrow('2 rows have 1 zones');
});

test('the name is one that the file has not', () => {
  expect(zoneColumn(['id', 'lat'], 'hexcodes_')).toBe('zone');
  expect(zoneColumn(['id', ' Zone '], 'hexcodes_')).toBe('hexcodes_zone');
  expect(zoneColumn(['zone', 'hexcodes_zone'], 'hexcodes_')).toBe('hexcodes_hexcodes_zone');
  const column = new ZoneColumn(['A'], ',');
  const named = column.withName(new TextEncoder().encode('id,lat\r\n'), 'zone');
  expect(new TextDecoder().decode(named)).toBe('id,lat,zone\r\n');
});
