// Whether uWS does what the door builds on (README U39). It is tried once a process, on a connection of the process to
// itself: a response that is kept where uWS does otherwise would be used after its connection is gone, and end the
// process.
import { connect } from 'node:net';
import type { Uws, UwsResponse } from '../uws.js';

const HOST = '127.0.0.1';
const TIMEOUT_MS = 2000;
const REQUEST = `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
const EXPECTED = 'open handler data handler data aborted';

let known: Promise<boolean> | undefined;

/** Resolves to whether a connection may be known by the response that uWS shows when it opens. Never rejects. */
export function mayKeepResponses(uws: Uws): Promise<boolean> {
  known ??= tryIt(uws);
  return known;
}

function tryIt(uws: Uws): Promise<boolean> {
  const app = uws.App();
  const seen: string[] = [];
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(), TIMEOUT_MS);
    const done = (): void => {
      clearTimeout(timer);
      app.close();
      resolve(seen.join(' ') === EXPECTED);
    };
    const opened = (res: UwsResponse): void => {
      seen.push('open');
      const awaitClose = (): void =>
        void res.onAborted(() => {
          seen.push('aborted');
          setImmediate(done);
        });
      const awaitRequest = (): void =>
        void res.onData(() => {
          seen.push('data');
          awaitClose();
          setImmediate(awaitRequest);
        });
      awaitClose();
      awaitRequest();
    };
    app.filter((res, change) => (change < 0 ? undefined : opened(res)));
    app.get('/*', (res) => {
      seen.push('handler');
      res.end('');
    });
    app.listen(HOST, 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (listener) => {
      if (listener === false) {
        done();
        return;
      }
      const client = connect(uws.us_socket_local_port(listener), HOST, () => client.write(REQUEST));
      client.once('data', () => {
        client.once('data', () => client.destroy());
        setTimeout(() => client.write(REQUEST), 5);
      });
      client.on('error', done);
    });
  });
}
