// Nested columns keep their types from a format into itself: files of random types, written and compared by pyarrow.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../../support/cli.js';
import { converted } from '../../../support/files/roads.js';
import { PYTHON } from '../../../support/python-env.js';

const SCRIPT = 'test/support/files/nested.py';
const FILES = 40;
const hasPyarrow = spawnSync(PYTHON, ['-c', 'import pyarrow.parquet']).status === 0;

interface Made {
  readonly path: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly failed: readonly number[];
}

function python(args: readonly string[], lines: readonly unknown[] = []): unknown[] {
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { stdout, stderr, status } = spawnSync(PYTHON, ['-B', SCRIPT, ...args], {
    input,
    encoding: 'utf8',
  });
  const out = stdout.split('\n').filter((line) => line !== '');
  if (status !== 0) throw new Error(stderr);
  return out.map((line) => JSON.parse(line) as unknown);
}

describe.skipIf(!hasPyarrow)('(needs build/python-env: .ci/python makes it)', () => {
  const folder = new CliFolder();
  afterAll(() => folder.remove());
  let hexcodes: Hexcodes;
  beforeAll(async () => {
    hexcodes = await Hexcodes.load();
  });

  test.each(['parquet'])(
    '%s',
    async (format) => {
      mkdirSync(folder.file(format));
      const made = python(['make', folder.file(format), '1', String(FILES), format]) as Made[];
      const checks: unknown[][] = [];
      for (const [number, { path, columns, failed }] of made.entries()) {
        const nested = columns.filter((name) => name.startsWith('n'));
        const dropped = number % 3 === 0 ? [nested[0]!] : number % 3 === 1 ? ['lat'] : [];
        const kept = columns.filter((name) => !dropped.includes(name)).reverse();
        const output = path.replace('.', '-out.');
        const kind = number % 4 === 1 ? 'stop' : 'keep';
        const { fault, lines } = await converted(hexcodes, [path], output, {
          errors: { kind },
          columns: { prefix: '', ...(number % 2 === 0 ? { keep: kept } : { drop: dropped }) },
        });
        if (kind === 'stop' && failed.length > 0) {
          expect(fault).toMatch(new RegExp(`row ${failed[0]! + 1}: `));
          continue;
        }
        expect(fault).toBeUndefined();
        expect(lines.join()).toContain('copied as they are');
        checks.push([path, output, JSON.stringify(kept), 'null']);
      }
      expect(python(['check'], checks)).toEqual(checks.map(() => null));
    },
    120_000,
  );
});
