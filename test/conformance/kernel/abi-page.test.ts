// The pages by which hosts in other languages are written, docs/kernel-abi.md and docs/reference/kernel.md, against the
// exports of both builds.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { INDEX_REFUSALS } from '#dist/hexcodes/kernel/index-file.js';
import { type Build, KERNEL_FILES } from '../../support/open-world.js';
import { shippedKernel } from '../../support/shipped.js';

const page = readFileSync('docs/reference/kernel.md', 'utf8');

/** The signatures of the calls: `name(a: i32, b: f64): i32`. */
const declared = [...page.matchAll(/^- `(\w+)\(([^)]*)\)(?:: (\w+))?`:/gm)].map(
  ([, name, parameters, result]) => ({
    name: name!,
    types: [...parameters!.matchAll(/: (\w+)/g)].map(([, type]) => type!),
    result: result ?? 'none',
  }),
);
const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
/** All names of exports in code spans. */
const named = new Set([...page.matchAll(/`(\w+)`/g)].map(([, name]) => name!));

const VALUE_TYPES: Record<number, string> = { 127: 'i32', 126: 'i64', 125: 'f32', 124: 'f64' };

/** The exported functions of a module with their types, read from its sections. */
function signaturesOf(bytes: Uint8Array): Map<string, { types: string[]; result: string }> {
  let at = 8;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const list = <T>(entry: () => T): T[] => Array.from({ length: number() }, entry);
  const valueType = () => VALUE_TYPES[bytes[at++]!] ?? 'another';
  let types: { types: string[]; result: string }[] = [];
  let functions: number[] = [];
  const found = new Map<string, { types: string[]; result: string }>();
  while (at < bytes.length) {
    const section = bytes[at++];
    const end = number() + at;
    if (section === 1)
      types = list(() => {
        at++;
        return { types: list(valueType), result: list(valueType)[0] ?? 'none' };
      });
    if (section === 3) functions = list(number);
    if (section === 7)
      list(() => {
        const size = number();
        const name = new TextDecoder().decode(bytes.subarray(at, at + size));
        at += size;
        const kind = bytes[at++];
        const index = number();
        if (kind === 0) found.set(name, types[functions[index]!]!);
      });
    at = end;
  }
  return found;
}

describe.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm', (build) => {
  const bytes = readFileSync(KERNEL_FILES[build]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));

  test('has the calls of the page with their types, and no other', () => {
    const signatures = [...signaturesOf(bytes)].map(([name, signature]) => ({ name, ...signature }));
    expect(signatures.sort(byName)).toEqual([...declared].sort(byName));
  });

  test('has no other global or memory than the page names', () => {
    const others = Object.keys(exports).filter((name) => typeof exports[name] !== 'function');
    expect(others.length).toBeGreaterThan(30);
    expect(others.filter((name) => !named.has(name))).toEqual([]);
  });

  test('has the version, capacities and sizes of the page', () => {
    const value = (name: string): number => (exports[name] as WebAssembly.Global<'i32'>).value;
    const text = readFileSync('docs/kernel-abi.md', 'utf8');
    expect(Number(/^Version (\d+)/m.exec(text)?.[1])).toBe(value('ABI_VERSION'));
    const sizes = [...page.matchAll(/^- `(\w+)` = (\d+): /gm)];
    expect(sizes.length).toBeGreaterThan(12);
    for (const [, name = '', size] of sizes) expect([name, Number(size)]).toEqual([name, value(name)]);
  });
});

test('kernel-scalar.wasm has the calls up to unitBatch', () => {
  const signatures = [...signaturesOf(readFileSync('dist/kernel-scalar.wasm'))];
  const points = declared.slice(0, 1 + declared.findIndex(({ name }) => name === 'unitBatch'));
  expect(points.length).toBe(20);
  expect(signatures.map(([name, signature]) => ({ name, ...signature })).sort(byName)).toEqual(
    points.sort(byName),
  );
});

test('the example in bytes is what the kernel answers', () => {
  const text = readFileSync('docs/kernel-abi.md', 'utf8');
  const [point, record, position] = [...text.matchAll(/`((?:[0-9a-f]{2} ){15,}[0-9a-f]{2})`/g)].map(
    ([, bytes]) => Buffer.from(bytes!.replaceAll(' ', ''), 'hex'),
  ) as [Buffer, Buffer, Buffer];
  const kernel = shippedKernel();
  kernel.inputBytes.set(point);
  expect(kernel.exports.encodeBatch(1, 13)).toBe(0);
  expect(Buffer.from(kernel.output.subarray(0, 20))).toEqual(record);
  kernel.inputBytes.set(record);
  expect(kernel.exports.decodeBatch(1)).toBe(0);
  expect(Buffer.from(kernel.output.subarray(0, 18))).toEqual(position);
});

test('the page gives the reasons of useIndex', () => {
  INDEX_REFUSALS.forEach((reason, n) => {
    if (n > 0) expect(page).toContain(`- ${n}: ${reason}\n`);
  });
});
