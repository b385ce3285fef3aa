// The greeting of `hexcodes serve`: its address and a first call, on standard error; logs go to standard output. A
// key is shown only on a terminal.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT } from '../../files/exit-codes.js';
import { say, shellWord } from '../../files/terminal/say.js';
import { VERSION } from '../../hexcodes/version.js';

// The end of a process that serves.

/** Last resort: a stop that exceeds its time by this ends the process with a failure. */
const CLOSING_TIMEOUT_MS = 6000;

/** Stops the service, then ends the process: with a failure if the stop fails or takes too long. */
export function stopAndExit(
  service: { stop(): Promise<unknown> },
  { drainMs, graceMs }: { readonly drainMs: number; readonly graceMs: number },
): void {
  setTimeout(() => process.exit(EXIT.FAILED), drainMs + graceMs + CLOSING_TIMEOUT_MS).unref();
  service.stop().then(
    () => process.exit(EXIT.OK),
    (error: unknown) => {
      say(`hexcodes: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(EXIT.FAILED);
    },
  );
}

export interface Greeting {
  readonly host: string;
  readonly port: number;
  readonly firstKeyFile: string | undefined;
  readonly transport: { readonly name: string; readonly version: string };
}

export function greet(greeting: Greeting): void {
  say(`${greetingLines(greeting, process.stderr.isTTY).join('\n')}\n`);
}

/** @param isTerminal whether a person reads: then the page, the documents and the first key are shown */
export function greetingLines(
  { host, port, firstKeyFile, transport }: Greeting,
  isTerminal: boolean,
): string[] {
  const reachable =
    host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const base = `http://${reachable}:${port}`;
  const lines = [`hexcodes ${VERSION} answers on ${base} (${transport.name} ${transport.version})`];
  if (isTerminal) lines.push(`  page       ${base}/`, `  documents  ${base}/docs, and the folder docs/`);
  if (firstKeyFile !== undefined) {
    lines.push(
      'try:',
      `  curl -s -H "X-API-Key: $(cat ${shellWord(resolve(firstKeyFile))})" '${base}/v1/hexcodes/encode?lat=21.0288&lng=105.8525'`,
    );
    if (isTerminal) lines.push(`the first key is ${readFileSync(firstKeyFile, 'utf8').trim()}`);
  }
  if (isTerminal) lines.push('Ctrl-C ends it.');
  return lines;
}
