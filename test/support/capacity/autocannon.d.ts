// The part of autocannon that the proof uses; the package has no types.
declare module 'autocannon' {
  export interface Result {
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number; readonly max: number };
    readonly requests: { readonly total: number };
    readonly errors: number;
  }
  export default function autocannon(options: {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Requests a second of all connections. */
    readonly overallRate?: number;
  }): Promise<Result>;
}
