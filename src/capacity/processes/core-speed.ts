// How fast the server's core is just now. It has to be asked while the server rests.
import type { ChildProcess } from 'node:child_process';
import { forkPinned, messageOf, SERVER_CORE } from './pinned-process.js';

const PROGRAM = new URL('./core-speed-program.js', import.meta.url);
const WORK_MS = 20;

export class CoreSpeed {
  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<CoreSpeed> {
    const child = forkPinned(PROGRAM, [], String(SERVER_CORE));
    await messageOf(child);
    return new CoreSpeed(child);
  }

  /** The time of a piece of work, in microseconds. */
  async workUs(): Promise<number> {
    const answer = messageOf<{ workUs: number }>(this.child);
    this.child.send(WORK_MS);
    return (await answer).workUs;
  }

  end(): void {
    if (this.child.connected) this.child.disconnect();
  }
}
