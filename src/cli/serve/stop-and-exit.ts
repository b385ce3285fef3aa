// The end of a process that serves.
import { EXIT } from '../../files/exit-codes.js';
import { say } from '../../files/terminal/say.js';

/** A last resort: a stop that takes longer than it may, and this, ends the process with a failure. */
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
