// `hexcodes serve`: runs the service until SIGTERM or SIGINT; a second signal ends the process at once.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Command } from 'commander';
import { SETTING_NAMES } from '../../config.js';
import { type Service, serve } from '../../server/serve.js';
import { VERSION } from '../../version.js';
import { readDataFiles } from '../library.js';
import { addFlags, settingsOf } from '../settings.js';

export default function register(program: Command): void {
  const command = program.command('serve').description('answer encode and decode over HTTP');
  addFlags(command, SETTING_NAMES).action(async () => {
    const config = settingsOf(command, SETTING_NAMES);
    if (config === undefined) return;
    const service = await serve(config, await readDataFiles(config.index));
    stopOnSignals(service);
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
    const key = `$(cat ${relative('.', file)})`;
    lines.push(
      'try:',
      `  curl -s "${base}/v1/hexcodes/encode?lat=21.0288&lng=105.8525&apikey=${key}" -X POST`,
    );
    if (process.stderr.isTTY) lines.push(`the first key is ${readFileSync(file, 'utf8').trim()}`);
  }
  process.stderr.write(`${lines.join('\n')}\n`);
}

function stopOnSignals(service: Service): void {
  let signals = 0;
  const onSignal = (): void => {
    if (++signals > 1) process.exit(1);
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`hexcodes: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
