// `npm run proof -- bulk [--part NAME] [--size POINTS] [--seed S]`: long bodies through the real server, peers that
// read badly, workers that die. Small twins: test/e2e/server/bulk and server/stream.
import { parseArgs } from 'node:util';
import type { Part } from './bulk-part.js';

const PARTS: Record<string, () => Promise<{ default: Part }>> = {
  stream: () => import('./bulk-stream.js'),
  csv: () => import('./bulk-csv.js'),
  stalled: () => import('./bulk-stalled.js'),
  kills: () => import('./bulk-kills.js'),
  chunked: () => import('./bulk-chunked.js'),
  habits: () => import('./bulk-habits.js'),
};

export default async function bulk(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      part: { type: 'string' },
      size: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const options = {
    size: values.size === undefined ? undefined : Number(values.size),
    seed: Number(values.seed),
  };
  const names = values.part === undefined ? Object.keys(PARTS) : [values.part];
  for (const name of names) {
    const load = PARTS[name];
    if (load === undefined)
      throw new Error(`There is no part ${name}; there are ${Object.keys(PARTS).join(', ')}`);
    const part = await load();
    console.log(`bulk ${name}: ${await part.default(options)}`);
  }
}
