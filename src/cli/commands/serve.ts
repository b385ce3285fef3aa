// `hexcodes serve`: runs the service until SIGTERM, SIGINT or SIGHUP; a second signal ends the process at once.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { SETTING_NAMES } from '../../config.js';
import { type Service, serve } from '../../server/serve.js';
import { VERSION } from '../../version.js';
import { EXIT } from '../exit-codes.js';
import { readDataFiles } from '../library.js';
import { addFlags, settingsOf } from '../settings.js';
import { say } from '../terminal/say.js';

/** A last resort: a stop that takes longer than the grace period and this ends the process with a failure. */
const CLOSING_TIMEOUT_MS = 6000;

export default function register(program: Command): void {
  const command = program.command('serve').description('answer encode and decode over HTTP');
  addFlags(command, SETTING_NAMES);
  // Read where the transport is loaded, which `hexcodes --version` does as well.
  command.addHelpText(
    'after',
    '\nAlso from the environment only:\n  HEXCODES_UWS          the package that serves (else the newest that loads: docs/transport.md)',
  );
  command.action(async () => {
    const config = settingsOf(command, SETTING_NAMES);
    if (config === undefined) return;
    const service = await serve(config, await readDataFiles(config.index));
    stopOnSignals(service, config.graceMs);
    greet(config.host, service);
  });
}

/** The address and a first call, on standard error; logs are on standard output. A key is shown on a terminal only. */
function greet(host: string, service: Service): void {
  const reachable =
    host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const base = `http://${reachable}:${service.port}`;
  const { name, version } = service.transport;
  const lines = [`hexcodes ${VERSION} answers on ${base} (${name} ${version})`];
  const file = service.firstKeyFile;
  if (file !== undefined) {
    lines.push(
      'try:',
      `  curl -s -H "X-API-Key: $(cat ${quoted(resolve(file))})" '${base}/v1/hexcodes/encode?lat=21.0288&lng=105.8525'`,
    );
    if (process.stderr.isTTY) lines.push(`the first key is ${readFileSync(file, 'utf8').trim()}`);
  }
  say(`${lines.join('\n')}\n`);
}

/** A path as one word of a shell, whichever folder the shell is in. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function stopOnSignals(service: Service, graceMs: number): void {
  let signals = 0;
  const onSignal = (): void => {
    if (++signals > 1) process.exit(EXIT.FAILED);
    setTimeout(() => process.exit(EXIT.FAILED), graceMs + CLOSING_TIMEOUT_MS).unref();
    service.stop().then(
      () => process.exit(EXIT.OK),
      (error: unknown) => {
        say(`hexcodes: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(EXIT.FAILED);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
}
