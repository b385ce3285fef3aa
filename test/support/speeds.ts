// Which tests run at which speed: `npm run test:fast` has units and smoke, `npm test` has parts as well, `npm run
// test:all` has the rest.

/** Unit and property tests of several seconds each; they are parts. */
export const LONG_UNITS = [
  'test/property/cli/files/damaged-files.test.ts',
  'test/property/server/quota.test.ts',
  'test/property/wire/bulk/bulk-text.test.ts',
  'test/unit/slow-tools.test.ts',
  'test/unit/wire/bulk.test.ts',
];

/** Parts that run no service in the process of their test: such files share processes, as units do. */
export const TOGETHER = [
  'test/conformance/kernel/{abi,reading}.test.ts',
  'test/conformance/same-bytes.test.ts',
  'test/e2e/capacity/results.test.ts',
  'test/e2e/cli/{commands,config}.test.ts',
  'test/e2e/cli/files/{arrow-types,cost,failed-rows,filter,geo,geojson-framings}.test.ts',
  'test/e2e/cli/files/{geopackage-tables,outputs,shapes,workbooks,xml}.test.ts',
  'test/e2e/cli/points/{times,zones}.test.ts',
  'test/e2e/deploy/files.test.ts',
  'test/e2e/release.test.ts',
  'test/oracle/**/*.test.ts',
  ...LONG_UNITS,
];

/** One file for each area, end to end. */
export const SMOKE = [
  'test/conformance/library/shipped.test.ts',
  'test/conformance/vectors.test.ts',
  'test/e2e/cli/points/track.test.ts',
  'test/e2e/client/http.test.ts',
  'test/e2e/forward/http-sink.test.ts',
  'test/e2e/server/bulk/answers.test.ts',
  'test/e2e/server/routes/single.test.ts',
  'test/e2e/server/stream/answers.test.ts',
];

/**
 * Tests that need a browser, a bus, a database, a proxy, another language or the packages of test/judges; and
 * loads, floods, fuzzers, files of every size, and what else takes more than ten seconds.
 */
export const REST = [
  'test/conformance/api/{client,openapi}.test.ts',
  'test/conformance/{doors-elsewhere,engines,go-java,python-*}.test.ts',
  'test/conformance/sql.test.ts',
  'test/e2e/capacity/{bench,plan}.test.ts',
  'test/e2e/cli/serve.test.ts',
  'test/e2e/cli/files/{as-brought,brought,by-chunks,ceilings,duckdb,files,resume}.test.ts',
  'test/e2e/cli/points/aggregate.test.ts',
  'test/e2e/console/**/*.test.ts',
  'test/e2e/recipes.test.ts',
  'test/e2e/deploy/proxies.test.ts',
  'test/e2e/engine/**/*.test.ts',
  'test/e2e/{forward,keys}/postgres*.test.ts',
  'test/e2e/keys/{admin-document,commands}.test.ts',
  'test/e2e/examples-vite-react.test.ts',
  'test/e2e/stream-examples.test.ts',
  'test/e2e/package*.test.ts',
  'test/e2e/server/bulk/peers.test.ts',
  'test/e2e/server/limits/bulk.test.ts',
  'test/e2e/server/{load-proofs,overload,pages,processes}.test.ts',
  'test/e2e/server/traccar/processes.test.ts',
  'test/e2e/server/transport/{crowds,keyed-streams,readers}.test.ts',
  'test/e2e/supervisor/processes.test.ts',
  'test/e2e/types.test.ts',
  'test/e2e/usage/**/*.test.ts',
  'test/property/cli/files/by-*.test.ts',
  'test/unit/cli/progress.test.ts',
  'test/unit/cli/files/value-table.test.ts',
  'test/unit/data/map/**/*.test.ts',
  'test/unit/tools/words.test.ts',
];

/**
 * Files of more than two minutes, the longest first: they start before all others, so that the processes of a run end
 * together.
 */
export const LONGEST = [
  'test/conformance/engines.test.ts',
  'test/e2e/deploy/proxies.test.ts',
  'test/e2e/engine/kafka.test.ts',
  'test/e2e/console/screens.test.ts',
  'test/e2e/console/zones.test.ts',
  'test/e2e/engine/worker.test.ts',
  'test/e2e/console/page.test.ts',
  'test/e2e/server/processes.test.ts',
  'test/property/cli/files/by-rows.test.ts',
  'test/conformance/python-package.test.ts',
  'test/e2e/capacity/bench.test.ts',
  'test/e2e/server/transport/crowds.test.ts',
  'test/e2e/usage/quota.test.ts',
  'test/e2e/usage/store.test.ts',
  'test/e2e/cli/files/brought.test.ts',
  'test/e2e/cli/files/ceilings.test.ts',
  'test/e2e/console/take-away.test.ts',
  'test/e2e/console/fleet.test.ts',
  'test/e2e/console/basemap.test.ts',
  'test/conformance/go-java.test.ts',
  'test/e2e/supervisor/processes.test.ts',
  'test/e2e/server/load-proofs.test.ts',
];
