// The subcommands. Each is a module that is loaded only when it is called: `hexcodes keys` never loads the server. To
// add one: a module whose default export, `(program: Command) => void`, declares the command of the same name, and a
// line here.
import type { Command } from 'commander';

interface Entry {
  /** Heading in the help. */
  readonly group: string;
  readonly summary: string;
  readonly load: () => Promise<{ default: (program: Command) => void }>;
}

const FILES = 'One position or code, and files:';
const CODES = 'Codes:';
const SERVICE = 'The service:';
const PLANNING = 'Planning:';

const entry = (group: string, summary: string, load: Entry['load']): Entry => ({ group, summary, load });

export const COMMANDS: Readonly<Record<string, Entry>> = {
  encode: entry(FILES, 'positions to hexcodes: one, or files of them', () => import('./commands/encode.js')),
  decode: entry(FILES, 'hexcodes to positions: one, or files of them', () => import('./commands/decode.js')),
  inspect: entry(CODES, 'show what a hexcode says', () => import('./commands/inspect.js')),
  suggest: entry(CODES, 'what a mistyped code was meant to be', () => import('./commands/suggest.js')),
  aggregate: entry(
    FILES,
    'points to one row a cell, province and time',
    () => import('./commands/aggregate.js'),
  ),
  contains: entry(FILES, 'which points lie in the cells of a list', () => import('./commands/contains.js')),
  cover: entry(CODES, 'the codes of an area', () => import('./commands/cover.js')),
  track: entry(FILES, 'positions of vehicles to stays in cells', () => import('./commands/track.js')),
  check: entry(CODES, 'validate a column of codes', () => import('./commands/check.js')),
  diff: entry(CODES, 'which codes change with new borders', () => import('./commands/diff.js')),
  provinces: entry(CODES, 'list the 34 provinces and their codes', () => import('./commands/provinces.js')),
  serve: entry(SERVICE, 'answer encode and decode over HTTP', () => import('./commands/serve.js')),
  worker: entry(
    SERVICE,
    'convert the messages of NATS JetStream or Kafka',
    () => import('./commands/worker.js'),
  ),
  usage: entry(SERVICE, 'what keys have used', () => import('./commands/usage.js')),
  keys: entry(SERVICE, 'manage API keys', () => import('./commands/keys.js')),
  bench: entry(
    PLANNING,
    'measure what this machine carries, or compare two measurements',
    () => import('./commands/bench.js'),
  ),
  plan: entry(PLANNING, 'how many machines a fleet needs', () => import('./commands/plan.js')),
};
