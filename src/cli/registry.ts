// The subcommands. Each is a module of its own that is loaded only when it is called: `hexcodes keys` never loads the
// server. To add one: a module whose default export, `(program: Command) => void`, declares the command of the same
// name, and a line here.
import type { Command } from 'commander';

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ default: (program: Command) => void }>;
}

export const COMMANDS: Readonly<Record<string, Entry>> = {
  encode: {
    summary: 'positions to hexcodes: one, or files of them',
    load: () => import('./commands/encode.js'),
  },
  decode: {
    summary: 'hexcodes to positions: one, or files of them',
    load: () => import('./commands/decode.js'),
  },
  inspect: { summary: 'show what a hexcode says', load: () => import('./commands/inspect.js') },
  suggest: { summary: 'what a mistyped code was meant to be', load: () => import('./commands/suggest.js') },
  aggregate: {
    summary: 'points to one row a cell, province and time',
    load: () => import('./commands/aggregate.js'),
  },
  contains: {
    summary: 'which points lie in the cells of a list',
    load: () => import('./commands/contains.js'),
  },
  cover: { summary: 'the codes of an area', load: () => import('./commands/cover.js') },
  track: {
    summary: 'positions of vehicles to stays in cells',
    load: () => import('./commands/track.js'),
  },
  check: { summary: 'validate a column of codes', load: () => import('./commands/check.js') },
  diff: {
    summary: 'which codes change with new borders',
    load: () => import('./commands/diff.js'),
  },
  provinces: {
    summary: 'list the 34 provinces and their codes',
    load: () => import('./commands/provinces.js'),
  },
  serve: { summary: 'answer encode and decode over HTTP', load: () => import('./commands/serve.js') },
  worker: {
    summary: 'convert the messages of NATS JetStream or Kafka',
    load: () => import('./commands/worker.js'),
  },
  usage: { summary: 'what keys have used', load: () => import('./commands/usage.js') },
  keys: { summary: 'manage API keys', load: () => import('./commands/keys.js') },
  bench: {
    summary: 'measure what this machine carries, or compare two measurements',
    load: () => import('./commands/bench.js'),
  },
  plan: { summary: 'how many machines a fleet needs', load: () => import('./commands/plan.js') },
};
