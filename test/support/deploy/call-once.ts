// One call over HTTPS with its whole answer.
import type { IncomingHttpHeaders } from 'node:http';
import { type RequestOptions, request } from 'node:https';

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
