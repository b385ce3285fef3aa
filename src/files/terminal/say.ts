// Messages for people on standard error. A standard error that is full or closed ends nothing: the message is lost.

let isWatched = false;

/** Writes a message as it is; the caller ends its lines. */
export function say(text: string): void {
  if (!isWatched) process.stderr.on('error', () => {});
  isWatched = true;
  process.stderr.write(text);
}
