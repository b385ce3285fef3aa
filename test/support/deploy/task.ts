// The options and results of the tasks that are put to two nodes behind a proxy.

import type { IncomingHttpHeaders } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import type { Behind } from './proxies.js';

export interface TaskOptions {
  /** Default true. */
  readonly isTls?: boolean;
  /** Rounds, calls of one kind, or batches of a connection. */
  readonly times?: number;
  /** After each call of a load. */
  readonly pauseMs?: number;
  readonly megabytes?: number;
  /** Bytes a second of a slow client, as curl's --limit-rate; undefined: as fast as it can. */
  readonly rate?: string;
  /** The body comes in chunks, from a pipe, and not with its length. */
  readonly isChunked?: boolean;
  readonly seconds?: number;
  /** Over TLS too; where the proxy knows HTTP/2 curl chooses that. */
  readonly isHttp1?: boolean;
  /** Vehicles that report at each interval; ms of their line each way. */
  readonly vehicles?: number;
  readonly delayMs?: number;
  /** Path of the Go clients; without it there are those of Node alone. */
  readonly go?: string;
  /** Intervals of reports and the proxy's timers of idle clients are shorter by this factor. */
  readonly speedUp?: number;
  /** Bounds of connections are smaller by this factor, in the proxy's file and in its firewall. */
  readonly boundsDownBy?: number;
  /** Connections of a flood, and the addresses that they come from. */
  readonly peers?: number;
  readonly addresses?: number;
}

export interface TaskResult {
  readonly done: number;
  readonly faults: readonly string[];
  /** Further figures, for the record. */
  readonly notes: readonly string[];
}

export type Task = (behind: Behind, options: TaskOptions) => Promise<TaskResult>;

// One call over HTTPS with its whole answer.

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function callOnce(url: string, options: RequestOptions, body = ''): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const call = request(url, options, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      answer.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}
