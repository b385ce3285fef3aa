// `hexcodes keys list` and `show`: tables for people, rows or JSON for scripts. No texts and no digests.
import type { Command } from 'commander';
import { visible } from '../../files/terminal/visible.js';
import type { StoredKey } from '../../server/keys/key-record.js';
import { KeyFault } from '../../server/keys/manage/key-fault.js';
import { keyJson } from '../../server/keys/manage/key-json.js';
import { addStoreFlags, withStore } from './open-keys.js';

export function addShowing(keys: Command): void {
  const list = keys
    .command('list')
    .description('show all keys, without their texts')
    .option('--json', 'as one JSON array');
  addStoreFlags(list).action(({ json }: { json?: boolean }) =>
    withStore(list, async (store) => {
      const all = await store.keys();
      if (json === true) writeJson(all.map(keyJson));
      else process.stdout.write(process.stdout.isTTY ? tableOf(all) : rowsOf(all));
    }),
  );

  const show = keys
    .command('show')
    .description('show all about a key, without its text')
    .argument('<id>', 'id as listed')
    .option('--json', 'as a JSON object');
  addStoreFlags(show).action((id: string, { json }: { json?: boolean }) =>
    withStore(show, async (store) => {
      const key = await store.find(id);
      if (key === undefined) throw new KeyFault('unknown', `there is no key ${id}`);
      if (json === true) writeJson(keyJson(key));
      else process.stdout.write(detailsOf(key));
    }),
  );
}

function writeJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 1)}\n`);
}

/** Rows for scripts; the name comes last, as it may be anything. */
function rowsOf(keys: readonly StoredKey[]): string {
  return keys
    .map(
      ({ id, state, createdMs, name }) =>
        `${id}\t${state}\t${new Date(createdMs).toISOString()}\t${visible(name)}\n`,
    )
    .join('');
}

const HEAD = ['ID', 'STATE', 'MADE', 'LAST USED', 'EXPIRES', 'SCOPES', 'NAME'];

function tableOf(keys: readonly StoredKey[]): string {
  const rows = keys.map((key) => [
    key.id,
    stateOf(key),
    day(key.createdMs),
    key.lastUsedMs === undefined ? 'never' : day(key.lastUsedMs),
    key.expiresMs === undefined ? 'never' : day(key.expiresMs),
    key.scopes.join(','),
    visible(key.name),
  ]);
  const widths = HEAD.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => (row[at] as string).length)),
  );
  return [HEAD, ...rows]
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] as number))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function detailsOf(key: StoredKey): string {
  const { name, state: _, limits, ...rest } = keyJson(key);
  const lines: [string, unknown][] = [
    ['name', visible(name)],
    ['state', stateOf(key)],
    ...Object.entries(rest),
    ...Object.entries(limits),
  ];
  return lines
    .map(([title, value]) => {
      const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
      return `${title.replaceAll('_', ' ').padEnd(20)}${text === '' ? '-' : text}\n`;
    })
    .join('');
}

const stateOf = ({ state, expiresMs }: StoredKey): string =>
  state === 'active' && expiresMs !== undefined && expiresMs <= Date.now() ? 'expired' : state;

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
