// Effects of uWS on its process: facts U1, U4 to U7, U21 and U27 of src/server/transport/README.md, each in a process
// of its own. A test that fails here means that uWS has changed, and that our answer to the fact may go.
import { expect, test } from 'vitest';
import { runAlone } from '../../../support/bare-uws.js';

const GET = String.raw`'GET / HTTP/1.1\r\nHost: a\r\n\r\n'`;

test('U1: the size of the header block is read from the environment once, while the package is loaded', () => {
  const { stdout } = runAlone(`
    process.env.UWS_HTTP_MAX_HEADERS_SIZE = '4096';
    app.get('/', (res) => res.end());
    listen((port) => {
      const client = connect(port, '127.0.0.1');
      client.write(${GET}.replace('a', 'a'.repeat(8000)));
      client.on('data', (bytes) => finish(String(bytes).split('\\r\\n')[0]));
    });
  `);
  expect(stdout).toBe('HTTP/1.1 200 OK\n');
});

test('U4: a worker thread that holds an app cannot be terminated without the process', () => {
  const { signal, stdout } = runAlone(`
    const { Worker } = await import('node:worker_threads');
    const worker = new Worker(\`
      import { parentPort } from 'node:worker_threads';
      import { loadUws } from '#dist/server/transport/load-uws.js';
      const { uws } = await loadUws();
      uws.App().listen('127.0.0.1', 0, 1, () => parentPort.postMessage(''));
    \`, { eval: true });
    worker.on('message', () => worker.terminate().then(() => finish('terminated')));
  `);
  expect([signal, stdout]).toEqual(['SIGABRT', '']);
});

test('U5: two listeners share a port unless one of them takes it exclusively', () => {
  const { stdout } = runAlone(`
    const { createServer } = await import('node:net');
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => {
        const isTaken = [0, 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT].map((options) => {
          let result;
          uws.App().listen('127.0.0.1', port, options, (socket) => { result = socket !== false; });
          return result;
        });
        finish(isTaken.join());
      });
    });
  `);
  expect(stdout).toBe('true,true,false\n');
});

test.each([
  ['that throws', "throw new Error('in a handler')"],
  ['that returns without an answer', ''],
])('U6: a handler %s before onAborted is set ends the process', (_name, work) => {
  const { signal } = runAlone(`
    app.get('/', () => { ${work} });
    listen((port) => connect(port, '127.0.0.1').write(${GET}));
  `);
  expect(signal).toBe('SIGABRT');
});

test.each(['idleTimeout: 7', 'idleTimeout: 961', 'maxLifetime: 241'])(
  'U7: a WebSocket route with %s ends the process',
  (option) => {
    expect(runAlone(`app.ws('/', { ${option} });`).signal).toBe('SIGABRT');
  },
);

test('U21: an uncorked write is complained about on standard error, unless any response is corked', () => {
  const { stderr, stdout } = runAlone(`
    const responses = [];
    app.get('/', (res) => {
      res.onAborted(() => {});
      responses.push(res);
      if (responses.length < 2) return;
      const [one, other] = responses;
      setImmediate(() => {
        one.cork(() => other.write('without a word'));
        console.error('---');
        other.write('with a complaint');
        finish('written');
      });
    });
    listen((port) => {
      for (const _ of [1, 2]) connect(port, '127.0.0.1').write(${GET});
    });
  `);
  expect(stdout).toBe('written\n');
  const [before, after] = stderr.split('---');
  expect(before).toBe('');
  expect(after).toContain('must be made from within a corked callback');
});

test.each([
  ['is never read again', false],
  ['is read on if a request was paused and resumed before', true],
])('U27: a first pause with bytes waiting, resumed with none: the body %s', (_name, isPrimed) => {
  const { stdout } = runAlone(`
    const answer = Buffer.alloc(24 * 2 ** 20);
    let response;
    app.post('/', (res) => {
      response = res;
      if (${isPrimed}) { res.pause(); res.resume(); }
      res.onAborted(() => {});
      res.onData((chunk) => { if (chunk.byteLength > 0) finish('read on'); });
      setImmediate(() => {
        res.cork(() => res.write(answer));
        res.pause();
      });
    });
    const isAllSent = (client) => new Promise((resolve) => {
      let receivedBytes = 0;
      const flush = setInterval(() => response?.cork(() => {}), 5);
      client.on('data', (bytes) => {
        receivedBytes += bytes.length;
        if (receivedBytes < answer.length) return;
        // The last bytes, as many as the head has, leave meanwhile.
        setTimeout(() => { clearInterval(flush); resolve(); }, 50);
      });
    });
    listen(async (port) => {
      const client = connect(port, '127.0.0.1');
      client.write('POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 2\\r\\n\\r\\n');
      await isAllSent(client);
      response.resume();
      client.write('x');
      setTimeout(finish, 1500, 'not read');
    });
  `);
  expect(stdout).toBe(isPrimed ? 'read on\n' : 'not read\n');
});
