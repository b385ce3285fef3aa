// Faults of standard output, for commands that write short answers to it. Node reports them as events, which would end
// the process with a stack.
import { EXIT } from '../files/exit-codes.js';
import { badOutput } from '../files/file-faults.js';
import { say } from '../files/terminal/say.js';

/**
 * Ends the command with a sentence where standard output cannot be written. A reader that has closed it (`| head`) is
 * no failure: the exit code is the one so far.
 */
export function watchStandardOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    say(`hexcodes: ${badOutput('standard output', error).message}\n`);
    process.exit(EXIT.BAD_OUTPUT);
  });
}
