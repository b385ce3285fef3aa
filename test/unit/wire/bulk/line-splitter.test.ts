// Lines of NDJSON, cut as they come: every line is in the block of the chunk that ends it.
import { expect, test } from 'vitest';
import { BlockBuffers } from '#dist/hexcodes/wire/bulk/block-buffers.js';
import { LineSplitter } from '#dist/hexcodes/wire/bulk/splitters.js';

/** Each chunk's blocks, as text. */
function blocksOf(chunks: readonly string[]): string[][] {
  const splitter = new LineSplitter(new BlockBuffers());
  return chunks.map((chunk) =>
    [...splitter.push(Buffer.from(chunk)), ...splitter.flush()].map((block) => Buffer.from(block).toString()),
  );
}

test('a line ends with the chunk that holds its line end, also as its first byte', () => {
  expect(blocksOf(['[1,2]\n[3,4]', '\n', '[5', ',6]', '\n[7,8]\n'])).toEqual([
    ['[1,2]\n'],
    ['[3,4]\n'],
    [],
    [],
    ['[5,6]\n[7,8]\n'],
  ]);
});

test('every way to cut three lines into two chunks', () => {
  const body = '[1]\n{"a":2}\n\n3\n';
  for (let at = 1; at < body.length; at++) {
    const blocks = blocksOf([body.slice(0, at), body.slice(at)]);
    const whole = body.lastIndexOf('\n', at - 1) + 1;
    expect(blocks.map((texts) => texts.join(''))).toEqual([body.slice(0, whole), body.slice(whole)]);
  }
});
