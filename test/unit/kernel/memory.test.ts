// The compiler puts static tables from address 0 on and does not know the areas of assembly/memory.ts behind them:
// tables larger than 256 KiB would be overwritten by the first points.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exportsOf } from '#dist/hexcodes/kernel/exports.js';

test.each(['kernel', 'kernel.debug'])('%s.wasm: static tables end before INPUT', (build) => {
  const module = new WebAssembly.Module(readFileSync(`dist/${build}.wasm`));
  const { memory, INPUT } = exportsOf(module);
  const bytes = new Uint8Array(memory.buffer);
  const lastUsed = bytes.findLastIndex((byte) => byte !== 0);
  expect(INPUT.value).toBe(0x40000);
  expect(lastUsed).toBeGreaterThan(0x20000);
  expect(lastUsed).toBeLessThan(INPUT.value);
});
