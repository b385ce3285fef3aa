// The service as the benches run it, inside the calling process: with one key, on a free port, and with its files in a
// temporary folder that is removed at exit.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, SETTING_NAMES, type ServeConfig } from '#config';
import { type ServeTuning, serve } from '#server';

export const BENCH_KEY = 'bench_key_0123456789abcdefghijklmnopqrstuvwxyz';

/** @returns the port */
export async function startService(
  logLevel: 'info' | 'warn',
  tuning: ServeTuning = {},
  settings: Partial<ServeConfig> = {},
): Promise<number> {
  const dataDir = settings.dataDir ?? mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
  if (settings.dataDir === undefined)
    process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const config = {
    ...readConfig(SETTING_NAMES, {}, {}),
    ...settings,
    ...{
      port: 0,
      adminPort: 0,
      dataDir,
      apiKeys: [{ name: 'bench', secret: BENCH_KEY }],
      logLevel,
      graceMs: 0,
    },
  };
  const files = {
    kernel: readFileSync('dist/kernel.wasm'),
    index: readFileSync('data/index.bin'),
    reach: readFileSync('data/reach.bin'),
  };
  return (await serve(config, files, undefined, tuning)).port;
}
