// The service is a package of its own, which the command can do without.

import { CliFailure, EXIT } from '../files/exit-codes.js';
import { VERSION } from '../hexcodes/version.js';

/** Whether an import failed because hexcodes-server is not installed. */
export function isServerMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && /'hexcodes-server[/']/.test(message);
}

/**
 * The failure of a command without the server that it needs, with the line that installs it; other errors as they are.
 */
export function withoutServer(error: unknown, command: string): unknown {
  if (!isServerMissing(error)) return error;
  return new CliFailure(
    EXIT.FAILED,
    `${command} needs the package hexcodes-server: npm install ./hexcodes-server-${VERSION}.tgz, of the release that this command is of`,
  );
}
