// `npm run bench -- NAME [options]` runs one bench, which prints a table and writes the same as JSON to build/bench/.

const BENCHES: Record<string, () => Promise<{ default: (args: string[]) => Promise<void> }>> = {
  baseline: () => import('./baseline.js'),
  capacity: () => import('./capacity.js'),
  bulk: () => import('./bulk.js'),
  codes: () => import('./codes.js'),
  claims: () => import('./claims.js'),
  cold: () => import('./cold.js'),
  command: () => import('./command.js'),
  engine: () => import('./engine.js'),
  files: () => import('./files.js'),
  kernel: () => import('./kernel.js'),
  keys: () => import('./keys.js'),
  naive: () => import('./naive.js'),
  peers: () => import('./peers.js'),
  report: () => import('./report.js'),
  streams: () => import('./streams.js'),
  text: () => import('./text.js'),
  http: () => import('./http.js'),
  worst: () => import('./worst.js'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = BENCHES[name];
if (load === undefined) {
  console.error(`Usage: npm run bench -- NAME [options]\nBenches: ${Object.keys(BENCHES).join(', ')}`);
  process.exitCode = 2;
} else {
  await (await load()).default(args);
}
