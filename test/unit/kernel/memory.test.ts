// Memory of the kernel: its static tables, texts and records.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { exportsOf } from '#dist/hexcodes/kernel/exports.js';
import {
  FROM_CSV,
  pieceLists,
  type TextMemory,
  textMemoryOf,
  VALUE,
} from '#dist/hexcodes/kernel/text-memory.js';
import { openKernel } from '../../support/open-world.js';

// The compiler puts static tables from address 0 on and does not know the areas of assembly/memory.ts after them:
// tables larger than 256 KiB would be overwritten by the first points.
describe('static tables', () => {
  test.each(['kernel', 'kernel.debug'])('%s.wasm: static tables end before INPUT', (build) => {
    const module = new WebAssembly.Module(readFileSync(`dist/${build}.wasm`));
    const { memory, INPUT } = exportsOf(module);
    const bytes = new Uint8Array(memory.buffer);
    const lastUsed = bytes.findLastIndex((byte) => byte !== 0);
    expect(INPUT.value).toBe(0x40000);
    expect(lastUsed).toBeGreaterThan(0x20000);
    expect(lastUsed).toBeLessThan(INPUT.value);
  });
});

// The host's view of rows against the scans that fill them: fields lie where assembly/text/row.ts puts them.
describe('texts', () => {
  const COMMA = 44;
  const LINE_FEED = 10;
  const INVALID_REQUEST = 2;

  const kernel = openKernel();
  const memory = textMemoryOf(kernel);

  function textOf(bytes: Uint8Array): string {
    return Buffer.from(bytes).toString('latin1');
  }

  function scanCsv({ exports, blockAt, block }: TextMemory, text: string, isDecode: boolean): number {
    block.set(Buffer.from(text, 'latin1'));
    if (isDecode) exports.useCsvColumns(2, 0, -1, -1, COMMA);
    else exports.useCsvColumns(3, 0, 1, 2, COMMA);
    return exports.scanCsv(blockAt, blockAt + text.length, 100, isDecode, 13);
  }

  test('rows of positions: text, coordinates, resolution, and those left to the host', () => {
    const lines = [
      '21.03,105.85,7',
      '"10.5" ,106.7,',
      '0.001000000000000000129236898960272128533688373863697052001953125,106,9',
    ];
    expect(scanCsv(memory, lines.join('\n'), false)).toBe(lines.length);
    expect(lines.map((_, n) => textOf(memory.rowText(n)))).toEqual(lines);
    const at = memory.coordinateAt(0, 0);
    expect(textOf(memory.rowText(0)).slice(0, 5)).toBe('21.03');
    expect(at).toBe(memory.blockAt);
    expect(memory.coordinateAt(0, 1)).toBe(at + '21.03,'.length);
    expect(memory.byteAt(memory.coordinateAt(0, 1))).toBe('1'.charCodeAt(0));
    expect([0, 1, 2].map((n) => memory.resolutionOf(n))).toEqual([7, 13, 9]);
    expect([...memory.hostRows.subarray(0, memory.hostRowCount)]).toEqual([2]);
  });

  test('rows of codes: the text of the code, without its quotes', () => {
    const lines = ['HN-66,x', '"HN-6GHP4-83RFR",y'];
    expect(scanCsv(memory, lines.join('\r\n'), true)).toBe(lines.length);
    expect([0, 1].map((n) => textOf(memory.codeText(n)))).toEqual(['HN-66', 'HN-6GHP4-83RFR']);
  });

  test('a status that the host sets, and its tail, are what the writer writes', () => {
    const { exports } = memory;
    const lines = ['21.03,105.85,7', '21.03,105.86,7'];
    const count = scanCsv(memory, `${lines.join('\n')}\n`, false);
    kernel.exports.encodeBatch(count, 7);
    memory.setTail(0, 'OK', '"status":"OK"');
    memory.setTail(INVALID_REQUEST, 'BAD', '"status":"BAD","message":"bad"');
    memory.setStatus(1, INVALID_REQUEST);
    memory.statusCounts.fill(0);
    exports.setTextEnd(memory.textOutAt);
    const { code, admin, status, lineEnd } = VALUE;
    memory.usePieces(pieceLists([',', code, ',', admin, ',OK', lineEnd], [',,,', status, lineEnd], '')!);
    expect(exports.writeRows(0, count, FROM_CSV, COMMA, LINE_FEED, 0)).toBe(count);
    const written = textOf(memory.textOut.subarray(0, memory.textEnd - memory.textOutAt)).split('\n');
    expect(written[0]).toBe(`${lines[0]},${kernel.textAt(0)},${kernel.textAt(0).split('-')[0]},OK`);
    expect(written[1]).toBe(`${lines[1]},,,BAD`);
    expect([...memory.statusCounts]).toEqual([1, 0, 1, 0, 0, 0]);
  });

  test('rows that are made for frames have a resolution and nothing else', () => {
    memory.openRows(3, 11);
    expect([0, 1, 2].map((n) => memory.resolutionOf(n))).toEqual([11, 11, 11]);
    expect([0, 1, 2].map((n) => memory.rowText(n).length)).toEqual([0, 0, 0]);
  });

  test('a tail that is too long is refused', () => {
    expect(() => memory.setTail(0, 'x'.repeat(64), '')).toThrow(RangeError);
  });

  test('a tail that would not fit is refused, one that just fits is kept', () => {
    // 224 bytes for the JSON and 32 for the word, 4 of each for its length.
    memory.setTail(INVALID_REQUEST, 'x'.repeat(28), 'y'.repeat(220));
    expect(() => memory.setTail(INVALID_REQUEST, 'x'.repeat(29), '')).toThrow(RangeError);
    expect(() => memory.setTail(INVALID_REQUEST, '', 'y'.repeat(221))).toThrow(RangeError);
  });
});
