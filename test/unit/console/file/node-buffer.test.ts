// The parts of Node's Buffer that the page has in its place: each as Node's own.
import { isUtf8 as isUtf8OfNode, Buffer as NodeBuffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

interface Part {
  indexOf(byte: number, from?: number): number;
  includes(byte: number): boolean;
  fill(source: Uint8Array, from: number, to: number): Part;
  toString(encoding: 'latin1'): string;
}
const { Buffer, isUtf8 } = await consoleModule<{
  Buffer: {
    from(source: ArrayBuffer | string, offset?: number, size?: number): Part;
    byteLength(text: string): number;
  };
  isUtf8(bytes: Uint8Array): boolean;
}>('file/node-buffer.ts');

const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * 7) % 256);

test.each([
  [0, undefined],
  [0, 20],
  [40, undefined],
  [40, 9],
] as const)('a view from %d of %s bytes', (offset, size) => {
  const [ours, node] = [Buffer.from(bytes.buffer, offset, size), NodeBuffer.from(bytes.buffer, offset, size)];
  expect(ours.toString('latin1')).toBe(node.toString('latin1'));
  for (const byte of [0, 7, 40, 255]) {
    expect(ours.includes(byte)).toBe(node.includes(byte));
    expect(ours.indexOf(byte)).toBe(node.indexOf(byte));
    expect(ours.indexOf(byte, 5)).toBe(node.indexOf(byte, 5));
  }
});

test('texts, and what is UTF-8', () => {
  for (const text of ['', 'abc', 'Đường 1', '😀']) {
    expect(Buffer.byteLength(text)).toBe(NodeBuffer.byteLength(text));
    expect(Buffer.from(text).toString('latin1')).toBe(NodeBuffer.from(text).toString('latin1'));
  }
  for (const list of [[65], [0xc3, 0xa9], [0xc3], [0xff], [0xed, 0xa0, 0x80]])
    expect(isUtf8(Uint8Array.from(list))).toBe(isUtf8OfNode(Uint8Array.from(list)));
});

test('fill writes into the memory of another', () => {
  const memory = new Uint8Array(8);
  Buffer.from(memory.buffer, 2, 3).fill(Uint8Array.of(1, 2, 3), 0, 3);
  expect([...memory]).toEqual([0, 0, 1, 2, 3, 0, 0, 0]);
});
