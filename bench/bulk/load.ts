// The load of the bulk bench: bytes made beforehand, and answers of which only status and size are checked, so that
// one process can keep a server busy. A wrong status or size ends the run; the tests look at the contents.
import { connect, type Socket } from 'node:net';
import { clientFrame, handshake } from '../../test/support/raw-stream.js';
import { BENCH_KEY } from '../service.js';

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true);
    socket.once('error', reject);
  });
}

interface StreamLoad {
  readonly frame: Uint8Array;
  readonly isBinary: boolean;
  /** Payload of each answer; 0: as many bytes as the first answer has. */
  readonly answerBytes: number;
  readonly connections: number;
  /** Frames of one connection in flight. */
  readonly depth: number;
  /** Frames altogether, at least; every connection sends the same number. */
  readonly frames: number;
}

/** Header of a frame from the server. */
function headBytes(payloadBytes: number): number {
  return payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10;
}

/** Sends the same frame over and over on all connections; resolves, when all are answered, to how many were sent. */
export async function loadStream(port: number, load: StreamLoad): Promise<number> {
  const { connections, depth, isBinary } = load;
  const message = clientFrame(load.frame, isBinary ? 2 : 1);
  const protocol = `Sec-WebSocket-Protocol: hexcodes.v1.${isBinary ? 'binary' : 'json'}`;
  const each = Math.ceil(load.frames / connections);
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = await connected(port);
      await new Promise<void>((resolve, reject) => {
        let sent = 0;
        let isReady = false;
        let received = 0;
        let answerBytes = load.answerBytes === 0 ? 0 : load.answerBytes + headBytes(load.answerBytes);
        const dueBytes = () => each * answerBytes;
        const send = (): void => {
          while (sent < each && sent - Math.floor(answerBytes === 0 ? 0 : received / answerBytes) < depth) {
            socket.write(message);
            sent++;
          }
        };
        socket.on('data', (bytes: Buffer) => {
          let size = bytes.length;
          if (!isReady) {
            // The 101 and the ready frame come together or one after the other; nothing more comes before a frame is
            // sent.
            const text = bytes.toString('latin1');
            if (!text.includes('ready')) return;
            isReady = true;
            size = 0;
          }
          if (answerBytes === 0 && size > 0) answerBytes = firstAnswerBytes(bytes);
          received += size;
          if (answerBytes > 0 && received >= dueBytes()) {
            if (received > dueBytes()) reject(new Error(`${received} bytes answered, ${dueBytes()} due`));
            resolve();
          } else send();
        });
        socket.on('close', () => reject(new Error(`closed after ${received} bytes`)));
        socket.write(handshake(BENCH_KEY, [protocol]));
      });
      socket.removeAllListeners('close');
      socket.destroy();
    }),
  );
  return each * connections;
}

function firstAnswerBytes(bytes: Buffer): number {
  const code = bytes[1]! & 127;
  if (code < 126) return 2 + code;
  return code === 126 ? 4 + bytes.readUInt16BE(2) : 10 + Number(bytes.readBigUInt64BE(2));
}

interface HttpLoad {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly connections: number;
  /** Requests altogether, at least; every connection sends the same number. */
  readonly requests: number;
}

const FINAL_CHUNK = Buffer.from('0\r\n\r\n');

/** Sends the same request over and over; resolves, when all are answered, to how many were sent. */
export async function loadHttp(port: number, load: HttpLoad): Promise<number> {
  const { body, connections } = load;
  const head = Buffer.from(
    `POST ${load.path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${BENCH_KEY}\r\nContent-Type: ${load.contentType}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const each = Math.ceil(load.requests / connections);
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = await connected(port);
      await new Promise<void>((resolve, reject) => {
        let left = each;
        let received = 0;
        let tail: Buffer = Buffer.alloc(0);
        let knownBytes = -1;
        const send = (): void => {
          received = 0;
          knownBytes = -1;
          tail = Buffer.alloc(0);
          socket.write(head);
          socket.write(body);
        };
        socket.on('data', (bytes: Buffer) => {
          if (received === 0) {
            const text = bytes.toString('latin1', 0, Math.min(bytes.length, 2048));
            if (!text.startsWith('HTTP/1.1 200')) reject(new Error(`refused: ${text}`));
            const size = /content-length: (\d+)/i.exec(text)?.[1];
            if (size !== undefined) knownBytes = text.indexOf('\r\n\r\n') + 4 + Number(size);
          }
          received += bytes.length;
          tail = bytes.length >= 5 ? bytes : Buffer.concat([tail, bytes]).subarray(-5);
          const isEnd = knownBytes >= 0 ? received >= knownBytes : tail.subarray(-5).equals(FINAL_CHUNK);
          if (!isEnd) return;
          if (--left === 0) resolve();
          else send();
        });
        socket.on('close', () => reject(new Error('closed before the end of an answer')));
        send();
      });
      socket.removeAllListeners('close');
      socket.destroy();
    }),
  );
  return each * connections;
}
