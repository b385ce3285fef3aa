// The service as the benches run it, inside the calling process: with one key, on a free port, and with its files in a
// temporary folder that is removed at exit.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, SETTING_NAMES } from '#dist/config/config.js';
import { type ServeTuning, serve } from '#dist/server/serve.js';

export const BENCH_KEY = 'bench_key_0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * Resolves to the port.
 * @param folder data folder with keys of its own
 */
export async function startService(
  logLevel: 'info' | 'warn',
  tuning: ServeTuning = {},
  folder?: string,
): Promise<number> {
  const dataDir = folder ?? mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
  if (folder === undefined) process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const config = {
    ...readConfig(SETTING_NAMES, {}, {}),
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
