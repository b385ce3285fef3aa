// The subcommands. Each is a module of its own that is loaded only when it is called: `hexcodes keys` never loads the
// server. To add one: a module whose default export, `(program: Command) => void`, declares the command of the same
// name, and a line here.
import type { Command } from 'commander';

interface Entry {
  /** Under which the help lists it. */
  readonly group: string;
  readonly summary: string;
  readonly load: () => Promise<{ default: (program: Command) => void }>;
}

const FILES = 'One position or code, and files:';
const CODES = 'Codes:';
const SERVICE = 'The service:';
const PLANNING = 'Planning:';

export const COMMANDS: Readonly<Record<string, Entry>> = {
  encode: {
    group: FILES,
    summary: 'positions to hexcodes: one, or files of them',
    load: () => import('./commands/encode.js'),
  },
  decode: {
    group: FILES,
    summary: 'hexcodes to positions: one, or files of them',
    load: () => import('./commands/decode.js'),
  },
  inspect: { group: CODES, summary: 'show what a hexcode says', load: () => import('./commands/inspect.js') },
  suggest: {
    group: CODES,
    summary: 'what a mistyped code was meant to be',
    load: () => import('./commands/suggest.js'),
  },
  aggregate: {
    group: FILES,
    summary: 'points to one row a cell, province and time',
    load: () => import('./commands/aggregate.js'),
  },
  contains: {
    group: FILES,
    summary: 'which points lie in the cells of a list',
    load: () => import('./commands/contains.js'),
  },
  cover: { group: CODES, summary: 'the codes of an area', load: () => import('./commands/cover.js') },
  track: {
    group: FILES,
    summary: 'positions of vehicles to stays in cells',
    load: () => import('./commands/track.js'),
  },
  check: { group: CODES, summary: 'validate a column of codes', load: () => import('./commands/check.js') },
  diff: {
    group: CODES,
    summary: 'which codes change with new borders',
    load: () => import('./commands/diff.js'),
  },
  provinces: {
    group: CODES,
    summary: 'list the 34 provinces and their codes',
    load: () => import('./commands/provinces.js'),
  },
  serve: {
    group: SERVICE,
    summary: 'answer encode and decode over HTTP',
    load: () => import('./commands/serve.js'),
  },
  worker: {
    group: SERVICE,
    summary: 'convert the messages of NATS JetStream or Kafka',
    load: () => import('./commands/worker.js'),
  },
  usage: { group: SERVICE, summary: 'what keys have used', load: () => import('./commands/usage.js') },
  keys: { group: SERVICE, summary: 'manage API keys', load: () => import('./commands/keys.js') },
  bench: {
    group: PLANNING,
    summary: 'measure what this machine carries, or compare two measurements',
    load: () => import('./commands/bench.js'),
  },
  plan: {
    group: PLANNING,
    summary: 'how many machines a fleet needs',
    load: () => import('./commands/plan.js'),
  },
};
