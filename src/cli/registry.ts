// The subcommands. Each is a module of its own that is loaded only when it is called: `hexcodes keys` never loads the
// server. To add one: a module whose default export, `(program: Command) => void`, declares the command of the same
// name, and a line here.
import type { Command } from 'commander';

type Group = 'One position or code, and files:' | 'Codes:' | 'The service:' | 'Planning:';

interface Entry {
  /** Under which the help lists it. */
  readonly group: Group;
  readonly summary: string;
  readonly load: () => Promise<{ default: (program: Command) => void }>;
}

export const COMMANDS: Readonly<Record<string, Entry>> = {
  encode: {
    group: 'One position or code, and files:',
    summary: 'positions to hexcodes: one, or files of them',
    load: () => import('./commands/encode.js'),
  },
  decode: {
    group: 'One position or code, and files:',
    summary: 'hexcodes to positions: one, or files of them',
    load: () => import('./commands/decode.js'),
  },
  inspect: {
    group: 'Codes:',
    summary: 'show what a hexcode says',
    load: () => import('./commands/inspect.js'),
  },
  suggest: {
    group: 'Codes:',
    summary: 'what a mistyped code was meant to be',
    load: () => import('./commands/suggest.js'),
  },
  aggregate: {
    group: 'One position or code, and files:',
    summary: 'points to one row a cell, province and time',
    load: () => import('./commands/aggregate.js'),
  },
  contains: {
    group: 'One position or code, and files:',
    summary: 'which points lie in the cells of a list',
    load: () => import('./commands/contains.js'),
  },
  cover: { group: 'Codes:', summary: 'the codes of an area', load: () => import('./commands/cover.js') },
  track: {
    group: 'One position or code, and files:',
    summary: 'positions of vehicles to stays in cells',
    load: () => import('./commands/track.js'),
  },
  check: {
    group: 'Codes:',
    summary: 'validate a column of codes',
    load: () => import('./commands/check.js'),
  },
  diff: {
    group: 'Codes:',
    summary: 'which codes change with new borders',
    load: () => import('./commands/diff.js'),
  },
  provinces: {
    group: 'Codes:',
    summary: 'list the 34 provinces and their codes',
    load: () => import('./commands/provinces.js'),
  },
  serve: {
    group: 'The service:',
    summary: 'answer encode and decode over HTTP',
    load: () => import('./commands/serve.js'),
  },
  worker: {
    group: 'The service:',
    summary: 'convert the messages of NATS JetStream or Kafka',
    load: () => import('./commands/worker.js'),
  },
  usage: { group: 'The service:', summary: 'what keys have used', load: () => import('./commands/usage.js') },
  keys: { group: 'The service:', summary: 'manage API keys', load: () => import('./commands/keys.js') },
  bench: {
    group: 'Planning:',
    summary: 'measure what this machine carries, or compare two measurements',
    load: () => import('./commands/bench.js'),
  },
  plan: {
    group: 'Planning:',
    summary: 'how many machines a fleet needs',
    load: () => import('./commands/plan.js'),
  },
};
