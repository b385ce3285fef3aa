// Nodes that are killed in the midst of answers through a proxy, over each version of HTTP, to clients that have sent
// everything: no answer may look whole. Without nodes the proxy answers in the form of the service.
import { once } from 'node:events';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { request } from 'node:https';
import type { Readable, Writable } from 'node:stream';
import { COMMAND_KEY } from '../serve-command.js';
import type { Behind } from './behind-proxy.js';
import { callOnce } from './call-once.js';
import { RepeatedBody } from './repeated-body.js';
import type { TaskOptions, TaskResult } from './task.js';
import { faultsOfProxy } from './task-ordinary.js';

const PATH = '/v1/hexcodes/encode/bulk';
const HEADERS = { 'X-API-Key': COMMAND_KEY, 'Content-Type': 'text/csv' };

interface Call {
  readonly body: Writable;
  /** The status, and the body of the answer, which nobody reads yet. */
  readonly answer: Promise<readonly [status: number, body: Readable]>;
}

type Sender = (base: string) => Call;

const overHttp1: Sender = (base) => {
  const body = request(base + PATH, { method: 'POST', headers: HEADERS, rejectUnauthorized: false });
  return { body, answer: once(body, 'response').then(([it]) => [it.statusCode, it] as const) };
};

const overHttp2: Sender = (base) => {
  const session = connect(base, { rejectUnauthorized: false });
  session.on('error', () => {});
  const body = session.request({ ...HEADERS, ':method': 'POST', ':path': PATH });
  body.on('close', () => session.destroy());
  return { body, answer: once(body, 'response').then(([it]) => [it[':status'], body] as const) };
};

/** Reads half of an answer; the end of it is in the node then. */
async function readHalf(send: Sender, base: string, sent: RepeatedBody): Promise<Readable> {
  const { body, answer } = send(base);
  for (const chunk of sent.chunks()) if (!body.write(chunk)) await once(body, 'drain');
  body.end();
  await once(body, 'finish');
  const [status, answered] = await answer;
  // The loss of the connection is said of the answer, too.
  body.on('error', () => {});
  if (status !== 200) throw new Error(`a bulk body is answered with ${status}`);
  let bytes = 0;
  for await (const chunk of answered.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > sent.answerBytes / 2) return answered;
  }
  throw new Error(`the answer ended after ${bytes} bytes`);
}

/** How an answer ends whose node was killed: an error, or 'whole'. */
async function endOf(answer: Readable): Promise<string> {
  try {
    for await (const _ of answer);
    // Node tells of a stream that was cancelled in no other way.
    const { rstCode = 0 } = answer as Partial<ClientHttp2Stream>;
    return rstCode === 0 ? 'whole' : `reset with ${rstCode}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

export async function killNodes(behind: Behind, options: TaskOptions): Promise<TaskResult> {
  const { isHttp1 = false, megabytes = 20 } = options;
  const sent = new RepeatedBody(megabytes);
  await sent.learnAnswer(await behind.nodes[0]!.base(), COMMAND_KEY);
  const senders = isHttp1 ? [overHttp1] : [overHttp1, overHttp2];
  const answers = await Promise.all(senders.map((send) => readHalf(send, behind.base, sent)));
  for (const node of behind.nodes) node.child.kill('SIGKILL');
  await Promise.all(behind.nodes.map(({ exit }) => exit));
  const ends = await Promise.all(answers.map(endOf));
  const faults = ends.flatMap((end, at) =>
    end === 'whole' ? [`an answer over HTTP/${at + 1} looks whole`] : [],
  );
  const away = await callOnce(`${behind.base}/v1/meta`, { headers: HEADERS });
  if (away.status < 500) faults.push(`without nodes: ${away.status}`);
  faults.push(...faultsOfProxy(away));
  return { done: answers.length, faults, notes: ends };
}
