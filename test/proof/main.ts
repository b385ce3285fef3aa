// `npm run proof -- NAME [--size N] [--for 30m] [--seed S]`: the large proofs, whose small twins are in the tests.

type FuzzName = Parameters<typeof import('./fuzz.js')['proveFuzz']>[0];

/** The kinds of `fuzz.ts` are proofs of their own. */
const fuzz = (name: FuzzName) => async () => {
  const { proveFuzz } = await import('./fuzz.js');
  return { default: (args: string[]) => proveFuzz(name, args) };
};

/** Each proof is a module whose default export runs it and throws, or sets the exit code, when it fails. */
const PROOFS: Record<string, () => Promise<{ default: (args: string[]) => Promise<void> }>> = {
  away: async () => ({ default: (await import('./restarts.js')).proveAway }),
  backlog: async () => ({ default: (await import('./bus-kills.js')).proveBacklog }),
  border: () => import('./border.js'),
  builds: () => import('./builds.js'),
  bundlers: () => import('./bundlers.js'),
  clickhouse: () => import('./clickhouse.js'),
  clients: () => import('./clients.js'),
  differential: () => import('./differential.js'),
  engine: async () => ({ default: (await import('./bus-kills.js')).proveEngine }),
  fair: () => import('./fair.js'),
  'fuzz-bulk': fuzz('fuzz-bulk'),
  'fuzz-files': () => import('./fuzz-files.js'),
  'fuzz-frames': fuzz('fuzz-frames'),
  'fuzz-http': fuzz('fuzz-http'),
  'fuzz-kernel': async () => ({ default: (await import('./fuzz.js')).proveFuzzKernel }),
  'first-map': () => import('./first-map.js'),
  fleet: () => import('./fleet.js'),
  h3: () => import('./h3.js'),
  image: () => import('./image.js'),
  kafka: async () => ({ default: (await import('./bus-kills.js')).proveKafka }),
  linear: () => import('./linear.js'),
  'long-tasks': () => import('./long-tasks.js'),
  map: () => import('./map.js'),
  mutants: () => import('./mutants.js'),
  numbers: () => import('./numbers.js'),
  pairs: () => import('./pairs.js'),
  positions: () => import('./positions.js'),
  precision: () => import('./precision.js'),
  python: () => import('./python.js'),
  quota: () => import('./quota.js'),
  rates: () => import('./rates.js'),
  read: () => import('./read.js'),
  region: () => import('./region.js'),
  rolling: async () => ({ default: (await import('./restarts.js')).proveRolling }),
  spellings: () => import('./spellings.js'),
  schemathesis: () => import('./schemathesis.js'),
  soak: fuzz('soak'),
  spark: () => import('./spark.js'),
  stops: async () => ({ default: (await import('./restarts.js')).proveStops }),
  typos: () => import('./typos.js'),
  upload: () => import('./upload.js'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = PROOFS[name];
if (load === undefined) {
  console.error(`Usage: npm run proof -- NAME [options]\nProofs: ${Object.keys(PROOFS).join(', ')}`);
  process.exitCode = 2;
} else {
  await (await load()).default(args);
}
