// Encode and decode as a NATS micro service: request and reply, found and counted by the protocol that all such
// services have.
import { type Service, type ServiceMsg, Svcm } from '@nats-io/services';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Operation } from '../../hexcodes/wire/job.js';
import type { ServiceOptions } from '../bus.js';
import { BadRequest, type RequestAnswerer } from '../messages/request-answer.js';

const TOO_LARGE = 'the answer is larger than the servers take: ask for fewer points';

/** The connection of the package's own, older copy of the client, which is used by the same calls. */
type ServiceConnection = ConstructorParameters<typeof Svcm>[0];

export async function startService(
  nc: NatsConnection,
  answerer: RequestAnswerer,
  { name, version, queue }: ServiceOptions,
): Promise<Service> {
  const counts = { encode: { points: 0, failed: 0 }, decode: { points: 0, failed: 0 } };
  const service = await new Svcm(nc as unknown as ServiceConnection).add({
    name,
    version,
    queue,
    description: 'positions in Viet Nam to hexcodes and back',
    statsHandler: async (endpoint) => counts[endpoint.subject.endsWith('.decode') ? 'decode' : 'encode'],
  });
  const group = service.addGroup(name);
  for (const operation of ['encode', 'decode'] as const)
    group.addEndpoint(operation, {
      handler: (error, request) => {
        if (error === null) reply(request, operation);
      },
      metadata: { request: 'a frame, or a JSON batch as of /v1/hexcodes/encode/batch' },
    });
  return service;

  function reply(request: ServiceMsg, operation: Operation): void {
    // An answer there would be a request to the server, with the rights of this program.
    if (request.reply?.startsWith('$') === true) return;
    try {
      const { bytes, points, failed } = answerer.answer(operation, request.data);
      counts[operation].points += points;
      counts[operation].failed += failed;
      if (bytes.length > (nc.info?.max_payload ?? 0)) request.respondError(413, TOO_LARGE);
      else request.respond(bytes);
    } catch (error) {
      if (error instanceof BadRequest)
        request.respondError(error.status, error.message.replace(/[\r\n]+/g, ' '));
      else request.respondError(500, 'the request could not be answered');
    }
  }
}
