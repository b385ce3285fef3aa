// The part of duckdb-wasm's Node entry that tests use; its own types describe the browser's.

declare module '@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs' {
  interface Bundle {
    mainModule: string;
    mainWorker: string;
  }
  interface Row {
    toJSON(): Record<string, unknown>;
  }
  interface Connection {
    query(sql: string): { toArray(): Row[] };
    insertArrowFromIPCStream(bytes: Uint8Array, options: { name: string; create: boolean }): void;
  }
  interface Database {
    instantiate(): Promise<unknown>;
    connect(): Connection;
  }
  export const NODE_RUNTIME: unknown;
  export class VoidLogger {}
  export function createDuckDB(
    bundles: { mvp: Bundle; eh: Bundle },
    logger: VoidLogger,
    runtime: unknown,
  ): Promise<Database>;
}
