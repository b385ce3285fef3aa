// The packages that the bench of naive services installs.

export const FRAMEWORKS = { fastify: '5.12.8', hono: '4.13.19', '@hono/node-server': '2.1.9' } as const;

export const NAIVE_SERVERS = ['fastify', 'hono', 'node:http', 'uWS'] as const;
export type NaiveServer = (typeof NAIVE_SERVERS)[number];
