// Starts the thread that holds the admin port (port-thread.ts), answers what it hands on, and starts it again should it
// end.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { listenSentence } from '../listen-fault.js';
import type { AdminListener } from './listener.js';
import type { AdminAnswer, AdminCall, FromThread, PortStart, ToThread } from './port-messages.js';

const AGAIN_MS = 1000;
/** It holds connections and small pages only. */
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/**
 * Rejects with a sentence if the port cannot be listened on.
 * @param answer must not reject
 * @param failed called with a sentence when the thread has ended by itself
 */
export async function openPortFront(
  start: PortStart,
  answer: (call: AdminCall) => Promise<AdminAnswer>,
  failed: (error: Error) => void,
): Promise<AdminListener> {
  let isClosing = false;
  let again: NodeJS.Timeout | undefined;
  const listen = async (port: number): Promise<{ thread: Worker; port: number }> => {
    const workerData: PortStart = { ...start, port };
    const thread = new Worker(new URL('./port-thread.js', import.meta.url), {
      ...{ workerData, resourceLimits: LIMITS, name: 'admin port' },
    });
    const tell = (message: ToThread): void => thread.postMessage(message);
    const taken = await new Promise<number>((resolve, reject) => {
      thread.on('message', (message: FromThread) => {
        if (message.kind === 'call') {
          const { id, call } = message;
          void answer(call).then((made) => tell({ kind: 'answer', id, answer: made }));
        } else if (message.kind === 'listening') {
          resolve(message.port);
        } else {
          const { code, message: text } = message;
          const error = Object.assign(new Error(text), { code });
          reject(new Error(listenSentence({ host: start.host, port, use: 'the admin port' }, error)));
        }
      });
      thread.once('error', reject);
    });
    thread.on('error', failed);
    thread.once('exit', () => {
      if (isClosing) return;
      failed(new Error('the thread of the admin port has ended; it is started again'));
      again = setTimeout(() => void restart(taken), AGAIN_MS);
      again.unref();
    });
    // The service alone decides how long the process runs.
    thread.unref();
    return { thread, port: taken };
  };
  let running = await listen(start.port);
  const restart = async (port: number): Promise<void> => {
    try {
      running = await listen(port);
    } catch (error) {
      failed(error as Error);
      if (!isClosing) again = setTimeout(() => void restart(port), AGAIN_MS);
    }
  };
  return {
    port: running.port,
    close: async () => {
      isClosing = true;
      clearTimeout(again);
      const { thread } = running;
      if (thread.threadId < 0) return;
      const ended = once(thread, 'exit');
      thread.ref();
      const message: ToThread = { kind: 'close' };
      thread.postMessage(message);
      await ended;
    },
  };
}
