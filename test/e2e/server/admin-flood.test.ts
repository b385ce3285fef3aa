// Floods of the admin port do not end the service: one process, and several behind a supervisor.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { COMMAND_KEY, ServeCommand } from '../../support/serve-command.js';

const sockets: Socket[] = [];
let service: ServeCommand | undefined;
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  service?.remove();
});

test.each([['1'], ['2']])('pipelined calls of the admin port leave %s processes alive', async (processes) => {
  service = new ServeCommand(['--processes', processes]);
  const base = await service.base();
  const admin = await service.adminBase();
  const calls = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(300);
  const closed = Array.from({ length: 100 }, (_, i) => {
    const socket = connect(Number(new URL(admin).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    if (i % 2 === 0) socket.pause();
    else socket.resume();
    socket.write(calls);
    return once(socket, 'close');
  });
  await Promise.race(closed);
  const answer = await fetch(`${base}/v1/hexcodes/encode?lat=21.0288&lng=105.8525`, {
    headers: { 'X-API-Key': COMMAND_KEY },
  });
  expect(answer.status).toBe(200);
  for (const socket of sockets) socket.resume();
  await Promise.all(closed);
  for (const path of ['/livez', '/readyz', '/metrics'])
    expect((await fetch(`${admin}${path}`)).status, path).toBe(200);
  expect(service.lines('a process has died')).toEqual([]);
  expect(await service.stop()).toBe(0);
});
