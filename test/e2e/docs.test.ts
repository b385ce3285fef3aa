// The examples of the documentation, run as they stand.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../support/cli.js';

// Inside the repository, so that the examples import the package by its own name.
mkdirSync('build', { recursive: true });
const inside = mkdtempSync(join('build', 'docs-'));
const folder = new CliFolder();
afterAll(() => {
  rmSync(inside, { recursive: true });
  folder.remove();
});

interface Block {
  readonly line: number;
  readonly text: string;
}

/** The code blocks of a page in one language. */
function blocksOf(page: string, language: string): Block[] {
  const text = readFileSync(`docs/${page}`, 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map((match) => ({
    line: text.slice(0, match.index).split('\n').length + 1,
    text: match[1] as string,
  }));
}

/** What a program says that it prints: comments behind console.log, or on lines of their own after a loop. */
function printedBy(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const comment = /console\.log\(.*\);\s*\/\/ (.*)$/.exec(line) ?? /^\/\/ (.*)$/.exec(line);
    return comment === null ? [] : [comment[1] as string];
  });
}

describe('library.md', () => {
  test.each(blocksOf('library.md', 'js'))('line $line', ({ line, text }) => {
    const file = join(inside, `line-${line}.mjs`);
    writeFileSync(file, text);
    const ran = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    expect(ran.stderr).toBe('');
    expect(
      ran.stdout
        .split('\n')
        .map((each) => each.trimEnd())
        .slice(0, -1),
    ).toEqual(printedBy(text));
  });
});

describe('command.md', () => {
  const SHOPS = `id,name,lat,lng
1,"Phở 10, Lý Quốc Sư",21.0306,105.8489
2,Bưu điện,10.7799,106.7
3,Bà Nà,15.995,107.996
4,Paris,48.8584,2.2945
`;
  const ORDERS = 'order,place\n17,HN-6GHP4-899JC\n18,hn6ghp4 83rfr\n19,HN-6GHP4-83RFQ\n';

  /** Without times, which differ from run to run, and digits beyond 1e-9 degrees. */
  const still = (text: string): string =>
    text
      .replace(/in \d+\.\d s/g, 'in 0.0 s')
      .replace(/(\d\.\d{9})\d+/g, '$1')
      .trimEnd();

  test.each(blocksOf('command.md', 'console'))('line $line', async ({ text }) => {
    folder.write('shops.csv', SHOPS);
    folder.write('orders.csv', ORDERS);
    // Each `$ ` starts a command; what follows up to the next is its output.
    for (const part of text.split(/^\$ /m).slice(1)) {
      const [command = '', ...expected] = part.split('\n');
      const ran = spawnSync('bash', ['-c', command], {
        cwd: folder.path,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${folder.path}/bin:${process.env.PATH}`, NO_COLOR: '1' },
      });
      expect([command, still(ran.stdout + ran.stderr)]).toEqual([command, still(expected.join('\n'))]);
    }
  });

  mkdirSync(folder.file('bin'));
  writeFileSync(
    folder.file('bin/hexcodes'),
    `#!/bin/sh\nexec ${process.execPath} ${join(process.cwd(), 'dist/cli/main.js')} "$@"\n`,
    { mode: 0o755 },
  );
});

describe('recipes.md', () => {
  test.each(blocksOf('recipes.md', 'js'))('line $line', ({ line, text }) => {
    const file = join(inside, `recipe-${line}.mjs`);
    writeFileSync(file, text);
    const ran = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    expect([ran.stderr, ran.stdout.trimEnd().split('\n')]).toEqual(['', printedBy(text)]);
  });

  test('DuckDB over Parquet', async () => {
    const rows = Array.from(
      { length: 400 },
      (_, i) => `v${i % 7},${21 + (i % 20) / 1000},${105.8 + i / 5000}`,
    );
    folder.write('pings.csv', `vehicle,lat,lng\n${rows.join('\n')}\n`);
    const encoded = await folder.run(['encode', 'pings.csv', '-o', 'pings.parquet', '-q']);
    expect(encoded.code).toBe(0);
    const connection = await (await DuckDBInstance.create()).connect();
    await connection.run(`SET file_search_path = '${folder.path}'`);
    const blocks = blocksOf('recipes.md', 'sql duckdb');
    expect(blocks.length).toBeGreaterThan(1);
    for (const { text } of blocks) {
      const result = (await connection.runAndReadAll(text)).getRowObjectsJson();
      expect([text, result.length > 0]).toEqual([text, true]);
    }
  });
});
