// A stop with its default times under clients that know nothing of it: they keep their connections, ask on, and connect
// again where they are told that a connection closes. A call on a kept connection that gets no answer is lost; one that
// finds nobody who listens is not.
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '#dist/config/config.js';
import { COMMAND_KEY, ServeCommand } from '../serve-command.js';
import { agentFor, call, LostCall } from './calls.js';

const CLIENTS = 12;
const PATH = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';

export interface PlainStop {
  readonly answered: number;
  readonly lost: readonly string[];
}

/** @param drain value of HEXCODES_DRAIN_MS; undefined: the default */
export async function stopUnderPlainClients(afterMs: number, drain?: string): Promise<PlainStop> {
  const service = new ServeCommand([], {
    HEXCODES_LOG_LEVEL: 'info',
    HEXCODES_DRAIN_MS: drain ?? String(readConfig(['drainMs'], {}, {}).drainMs),
  });
  const base = await service.base();
  let isOver = false;
  let answered = 0;
  const lost: string[] = [];
  const client = async (number: number): Promise<void> => {
    const agent = agentFor(base);
    while (!isOver) {
      try {
        const { status } = await call(agent, base, {
          ...{ path: PATH, method: 'GET' },
          headers: { 'X-API-Key': COMMAND_KEY },
        });
        if (status === 200) answered++;
        else lost.push(`${status}`);
      } catch (error) {
        if (!(error instanceof LostCall)) throw error;
        // Nobody listens any more: a connection is refused, or reset where it came in the moment in which the port
        // closed.
        if (!error.wasKept && !error.hadBegun) break;
        lost.push(error.message);
      }
      // Some ask at once again, some rest.
      await sleep((number % 4) * 60);
    }
    agent.destroy();
  };
  try {
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(i));
    await sleep(afterMs);
    await service.stop();
    isOver = true;
    await Promise.all(clients);
    return { answered, lost };
  } finally {
    isOver = true;
    service.remove();
  }
}
