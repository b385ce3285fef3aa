// Messages between the supervisor and its processes, over the channel that fork() opens.
import type { ServeConfig } from '../../config/config.js';
import type { Seat } from '../serve.js';

/** The first and only message to a process. */
export interface StartMessage {
  readonly config: ServeConfig;
  readonly seat: Seat;
  /** Worker threads of its pool. */
  readonly threads: number;
}

/** The process accepts requests. */
export interface ReadyMessage {
  readonly kind: 'ready';
  readonly adminPort: number;
  readonly firstKeyFile: string | undefined;
  readonly transport: { readonly name: string; readonly version: string };
}

/** The process cannot start, and ends. */
export interface FailedMessage {
  readonly kind: 'failed';
  /** A sentence for people. */
  readonly reason: string;
}

export type ProcessMessage = ReadyMessage | FailedMessage;
