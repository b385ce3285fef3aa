// The control server's process from the outside.
import { Latencies } from '../generator/latencies.js';
import { forkPinned, messageOf, SERVER_CORE } from '../processes/pinned-process.js';
import type { Behaviour } from './control-server.js';

const PROGRAM = new URL('./program.js', import.meta.url);

export interface ControlProcess {
  /** Its address, without a path. */
  readonly base: string;
  readonly pid: number;
  /** The real delays of its answers so far. */
  delays(): Promise<Latencies>;
  end(): void;
}

export async function startControlProcess(behaviour: Behaviour): Promise<ControlProcess> {
  const child = forkPinned(PROGRAM, [JSON.stringify(behaviour)], String(SERVER_CORE));
  const { port } = await messageOf<{ port: number }>(child);
  return {
    base: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    async delays() {
      child.send('delays');
      return Latencies.decode((await messageOf<{ delays: string }>(child)).delays);
    },
    end: () => child.disconnect(),
  };
}
