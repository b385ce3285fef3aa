// Bulk bodies by curl through a proxy, fast or slow, of known length or in chunks: each answer must be whole and right.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND_KEY } from '../serve-command.js';
import type { Behind } from './behind-proxy.js';
import { type AnswerCheck, RepeatedBody } from './repeated-body.js';
import type { TaskOptions, TaskResult } from './task.js';

/** Level of a log line. */
const WARNING = 40;
const BULK = '/v1/hexcodes/encode/bulk';

export async function sendBodies({ base, nodes }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { megabytes = 20, rate, isChunked = false, isHttp1 = false } = options;
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bodies-'));
  const faults: string[] = [];
  const notes: string[] = [];
  let done = 0;
  try {
    const body = new RepeatedBody(megabytes);
    await body.learnAnswer(await nodes[0]!.base(), COMMAND_KEY);
    const path = join(folder, 'body.csv');
    await body.write(path);
    const settings = [
      ...(isHttp1 ? ['--http1.1'] : []),
      ...(rate === undefined ? [] : ['--limit-rate', rate]),
      ...['-T', isChunked ? '-' : path, `${base}${BULK}`],
    ];
    const check = body.check();
    const fault = await sendOne(settings, isChunked ? path : undefined, check);
    if (fault === undefined) done++;
    else faults.push(fault);
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const node of nodes)
    for (const { level, msg, reason } of node.log)
      if (Number(level) >= WARNING) notes.push(`${msg}: ${reason}`);
  return { done, faults, notes };
}

/** @param input path of what curl gets as its input */
async function sendOne(
  settings: readonly string[],
  input: string | undefined,
  check: AnswerCheck,
): Promise<string | undefined> {
  const args = [
    '-sS',
    '-k',
    '-X',
    'POST',
    '-w',
    '%{stderr}%{http_code} by HTTP/%{http_version}',
    ...settings,
  ];
  const headers = ['-H', 'Content-Type: text/csv', '-H', `X-API-Key: ${COMMAND_KEY}`];
  const child = spawn('curl', [...args, ...headers], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin!.on('error', () => {});
  if (input !== undefined) createReadStream(input).pipe(child.stdin!);
  else child.stdin!.end();
  let said = '';
  child.stdout!.on('data', (chunk: Buffer) => check.add(chunk));
  child.stderr!.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  const isFine = code === 0 && said.startsWith('200 ') && check.fault === undefined;
  return isFine ? undefined : `curl ended with ${code}, ${said}; ${check.fault ?? 'the answer is whole'}`;
}
