// Streams through a proxy while both nodes stop: each client gets the close code 1012, which says that it may connect
// again.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { COMMAND_KEY } from '../serve-command.js';
import type { Behind } from './behind-proxy.js';
import type { TaskOptions, TaskResult } from './task.js';

export async function closeStreams({ base, nodes }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { times = 20 } = options;
  const url = `${base.replace('http', 'ws')}/v1/hexcodes/stream`;
  const sockets = Array.from(
    { length: times },
    () =>
      new WebSocket(url, 'hexcodes.v1.json', {
        headers: { 'X-API-Key': COMMAND_KEY },
        rejectUnauthorized: false,
      }),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'message')));
  const closed = sockets.map((socket) => once(socket, 'close') as Promise<[code: number]>);
  await Promise.all(nodes.map((node) => node.stop()));
  const codes = (await Promise.all(closed)).map(([code]) => code);
  const faults = codes.filter((code) => code !== 1012).map((code) => `closed with ${code}`);
  return { done: times - faults.length, faults, notes: [] };
}
