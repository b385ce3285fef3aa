#!/usr/bin/env node
// Entry of the `hexcodes` command. It imports the program dynamically: if the process can open hardly any files,
// modules cannot be read, and the user gets a sentence instead of a stack trace.

const NO_FILES = 'EMFILE';
const FAILED = 1;

/** Ends the process if an error means that no file can be opened any more. */
function endIfOutOfFiles(error: unknown): void {
  if ((error as NodeJS.ErrnoException | null)?.code !== NO_FILES) return;
  process.stderr.write(
    'hexcodes: this process may not open enough files: raise the limit (ulimit -n, LimitNOFILE= of systemd) to 256 or more\n',
  );
  process.exit(FAILED);
}

process.on('unhandledRejection', (reason) => {
  endIfOutOfFiles(reason);
  throw reason;
});
const [command, text, ...rest] = process.argv.slice(2);
const mayBeOnePosition = command === 'encode' && text !== undefined && rest.length === 0 && /^\d/.test(text);
try {
  const isAnswered = mayBeOnePosition && (await (await import('./one-position.js')).answerOne(text));
  if (!isAnswered) await import('./program.js');
} catch (error) {
  endIfOutOfFiles(error);
  throw error;
}
