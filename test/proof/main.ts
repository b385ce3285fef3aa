// `npm run proof -- NAME [--size N] [--for 30m] [--seed S]`: the large proofs, whose small twins are in the tests.

type FuzzName = Parameters<typeof import('./fuzz.js')['proveFuzz']>[0];

type Proof = (args: string[]) => Promise<void>;

/** The kinds of `fuzz.ts` are proofs of their own. */
const fuzz = (name: FuzzName) => async (): Promise<Proof> => {
  const { proveFuzz } = await import('./fuzz.js');
  return (args) => proveFuzz(name, args);
};

/** Each proof throws, or sets the exit code, when it fails. */
const PROOFS: Record<string, () => Promise<Proof>> = {
  away: async () => (await import('./restarts.js')).proveAway,
  backlog: async () => (await import('./bus-kills.js')).proveBacklog,
  border: async () => (await import('./map.js')).proveBorder,
  builds: async () => (await import('./builds.js')).default,
  bundlers: async () => (await import('./bundlers.js')).default,
  clickhouse: async () => (await import('./engines.js')).proveClickHouse,
  clients: async () => (await import('./clients.js')).default,
  differential: async () => (await import('./spellings.js')).proveDifferential,
  engine: async () => (await import('./bus-kills.js')).proveEngine,
  fair: async () => (await import('./fair.js')).default,
  'fuzz-bulk': fuzz('fuzz-bulk'),
  'fuzz-files': async () => (await import('./files.js')).proveFuzzFiles,
  'fuzz-frames': fuzz('fuzz-frames'),
  'fuzz-http': fuzz('fuzz-http'),
  'fuzz-kernel': async () => (await import('./fuzz.js')).proveFuzzKernel,
  'first-map': async () => (await import('./page.js')).proveFirstMap,
  fleet: async () => (await import('./fleet.js')).default,
  h3: async () => (await import('./kernel.js')).proveH3,
  image: async () => (await import('./image.js')).default,
  kafka: async () => (await import('./bus-kills.js')).proveKafka,
  linear: async () => (await import('./files.js')).proveLinear,
  'long-tasks': async () => (await import('./page.js')).proveLongTasks,
  map: async () => (await import('./map.js')).proveMap,
  mutants: async () => (await import('./mutants.js')).default,
  numbers: async () => (await import('./kernel.js')).proveNumbers,
  pairs: async () => (await import('./pairs.js')).default,
  precision: async () => (await import('./map.js')).provePrecision,
  python: async () => (await import('./engines.js')).provePython,
  quota: async () => (await import('./quota.js')).default,
  rates: async () => (await import('./rates.js')).default,
  read: async () => (await import('./kernel.js')).proveReading,
  region: async () => (await import('./map.js')).proveRegion,
  rolling: async () => (await import('./restarts.js')).proveRolling,
  spellings: async () => (await import('./spellings.js')).proveSpellings,
  schemathesis: async () => (await import('./schemathesis.js')).default,
  soak: fuzz('soak'),
  spark: async () => (await import('./engines.js')).proveSpark,
  stops: async () => (await import('./restarts.js')).proveStops,
  typos: async () => (await import('./kernel.js')).proveTypos,
  upload: async () => (await import('./upload.js')).default,
};

const [name = '', ...args] = process.argv.slice(2);
const load = PROOFS[name];
if (load === undefined) {
  console.error(`Usage: npm run proof -- NAME [options]\nProofs: ${Object.keys(PROOFS).join(', ')}`);
  process.exitCode = 2;
} else {
  await (await load())(args);
}
