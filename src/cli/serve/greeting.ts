// The greeting of `hexcodes serve`: its address and a first call, on standard error; logs are on standard output.
// A key is shown on a terminal only.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { say } from '../../files/terminal/say.js';
import { shellWord } from '../../files/terminal/shell-word.js';
import { VERSION } from '../../hexcodes/version.js';

export interface Greeting {
  readonly host: string;
  readonly port: number;
  readonly firstKeyFile: string | undefined;
  readonly transport: { readonly name: string; readonly version: string };
}

export function greet({ host, port, firstKeyFile, transport }: Greeting): void {
  const reachable =
    host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const base = `http://${reachable}:${port}`;
  const lines = [`hexcodes ${VERSION} answers on ${base} (${transport.name} ${transport.version})`];
  if (firstKeyFile !== undefined) {
    lines.push(
      'try:',
      `  curl -s -H "X-API-Key: $(cat ${shellWord(resolve(firstKeyFile))})" '${base}/v1/hexcodes/encode?lat=21.0288&lng=105.8525'`,
    );
    if (process.stderr.isTTY) lines.push(`the first key is ${readFileSync(firstKeyFile, 'utf8').trim()}`);
  }
  say(`${lines.join('\n')}\n`);
}
