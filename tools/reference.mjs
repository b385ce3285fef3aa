// `node tools/reference.mjs`: writes the pages of docs/reference/ that the code knows (settings, requests of the
// service, options of the command, exports of the kernel, alerts) and the table of bench/README.md, once it has
// built what has changed. With `--check` it writes no page and ends with 1 where one is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';

const isProgram = import.meta.url === pathToFileURL(process.argv[1] ?? '').href;
// dist/ is loaded after it is that of src/.
if (isProgram) execFileSync(process.execPath, ['build.mjs'], { stdio: 'inherit' });
const { COMMANDS } = await import('#dist/cli/registry.js');
const { BUS_NAMES, flaglessOf, flagsOf, SETTING_NAMES } = await import('#dist/config/config.js');
const { EXIT_CODES } = await import('#dist/files/exit-codes.js');
const { COLUMN_NAMES } = await import('#dist/hexcodes/wire/rows/column-names.js');
const { OPERATIONS } = await import('#dist/server/api/operations.js');
const { CLOSE_CODES } = await import('#dist/server/api/stream-document.js');
const { CODES, ITEM_CODES, REQUEST_CODES } = await import('#dist/server/http/answers.js');
const { kernelPage } = await import('./reference-kernel.mjs');

const FOLDER = 'docs/reference';
const BENCH_PAGE = 'bench/README.md';
/** Options that as many commands have in the same words are written once, each flag with its commonest words. */
const SHARED_BY = 2;
const WRITTEN = 'Written by `node tools/reference.mjs`';

const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const code = (text) => (text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``);
const row = (...cells) => `| ${cells.join(' | ')} |`;
const table = (heads, rows) => [row(...heads), `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');

/** A name, or several, and what it means, as an entry of a list. */
const entry = (names, about) =>
  `- ${names.map((name) => `\`${name}\``).join(', ')}: ${about.replaceAll('<', '&lt;')}`;

function settingsList(names) {
  const flags = flagsOf(names).map(({ flags, help }) => {
    const [, about = '', variable = ''] = /^(.*) \[(\w+)\]$/.exec(help) ?? [];
    return entry([variable, flags], about);
  });
  const rest = flaglessOf(names).map(({ variable, help }) => entry([variable], help));
  return [...flags, ...rest].join('\n');
}

const settingsPage = () => `# Settings

${WRITTEN}; \`hexcodes serve --help\` says the same. [Running hexcodes](../operations.md#configuration) says where settings are
read from. Each has its default in parentheses; one without a flag is secret, or belongs to the environment.

## The service

${settingsList(SETTING_NAMES)}

## Workers on a message bus

${settingsList(BUS_NAMES)}
`;

/** The values that a schema of a parameter lets in, in words. */
function valuesOf({ type, minimum, maximum, enum: choices, pattern, minLength, maxLength, default: usual }) {
  const range =
    minimum === undefined && maximum === undefined
      ? ''
      : ` ${maximum === undefined ? `from ${minimum} on` : `${minimum} to ${maximum}`}`;
  const length = maxLength === undefined ? '' : `, ${minLength ?? 0} to ${maxLength} characters`;
  const words =
    choices === undefined
      ? `${type}${range}${length}${pattern === undefined ? '' : ` ${code(pattern)}`}`
      : choices.map((each) => code(String(each))).join(', ');
  return usual === undefined ? words : `${words}; default ${code(String(usual))}`;
}

const IN_ITEMS = 'items of a batch, rows of /bulk, points of the stream';
/** The status words: each with its HTTP statuses, its other uses, its meaning and what to do. */
const STATUS_WORDS = [
  [
    'OK',
    [200],
    IN_ITEMS,
    'Done. A batch is OK although items of it failed: each has a `status` of its own.',
    'Nothing.',
  ],
  [
    'INVALID_HEXCODES',
    [200, 404],
    IN_ITEMS,
    'The text is not a hexcode: mistyped, cut off, or something else. 200 of a decode, 404 of `/v1/hexcodes/{code}`.',
    'Show the person what `/v1/hexcodes/{code}/suggestions` finds, and let them choose. The same text fails again.',
  ],
  [
    'NOT_FOUND',
    [404],
    IN_ITEMS,
    'The position lies in no province of Viet Nam nor in its coastal sea; or there is nothing at this path, no province of this code.',
    'See whether latitude and longitude are exchanged, and whether the path is spelt as on this page.',
  ],
  [
    'INVALID_REQUEST',
    [400, 405, 406, 408, 413, 414, 415, 417, 426],
    `${IN_ITEMS}; frame status 1`,
    'A parameter, the body, a header, the method or the length is wrong. `details` names every parameter at fault, `message` says the rest.',
    'Correct the request: the same one fails again. After 408 send the body faster, or in parts.',
  ],
  [
    'REQUEST_DENIED',
    [401, 403],
    'close code 4001 of the stream',
    '401: the key is missing, unknown, expired or revoked. 403: it is disabled, has no scope for this path, or is bound to other web origins or networks.',
    'Send a valid key in `X-API-Key`; ask whoever gave it for the scope, origin or network.',
  ],
  [
    'OVER_QUERY_LIMIT',
    [429],
    'the rest of a /bulk body; frame status 2; close code 4002 of the stream',
    'A rate or a quota of the key is reached. `GET /v1/usage` shows its limits and what it has used.',
    'Wait as many seconds as `Retry-After` says. Where it is a quota, ask for a larger one.',
  ],
  [
    'UNAVAILABLE',
    [503],
    'the rest of a /bulk body; frame status 3; close codes 1012 and 1013 of the stream',
    'Overloaded, restarting, or no answer within 30 s; on `/v1/traccar` also: the sink of positions is away, and as many wait as may.',
    'Send it again after `Retry-After`, more slowly each time. Conversions have no side effects, so repeating them is safe; a position repeated to `/v1/traccar` may be kept twice. Likewise after 502 or 504 of a proxy.',
  ],
  [
    'INTERNAL_ERROR',
    [500],
    '',
    'A defect of the service; the connection is closed.',
    'Report it with the `request_id` of the answer.',
  ],
];

function httpPage() {
  // A parameter of a query whose body may have it, too, has no default there; else the two are one.
  const found = new Map();
  for (const { path, parameters } of OPERATIONS) {
    for (const { name, in: where, description, schema } of parameters) {
      const key = [name, where, description].join();
      if (!found.has(key)) found.set(key, { name, where, description, schema, paths: new Set() });
      found.get(key).paths.add(code(path));
    }
  }
  const parameters = [...found.values()].map(({ name, where, description, schema, paths }) => {
    const values = valuesOf(schema).replaceAll('\\|', '|');
    return `- \`${name}\` (${where}, ${values}): ${description}. Of ${[...paths].join(', ')}`;
  });
  const words = STATUS_WORDS.map(([word, http, elsewhere, meaning, remedy]) =>
    row(code(word), http.join(', '), escaped(elsewhere), escaped(meaning), escaped(remedy)),
  );
  return `# Requests of the service

${WRITTEN}, from what \`/openapi.json\` is made of; that document has the schemas of bodies and answers as well. The
rules for all of them: [the page of the service](../http.md).

## Operations

${OPERATIONS.map(
  ({ method, path, summary, description }) =>
    `- ${code(`${method.toUpperCase()} ${path}`)}: ${escaped(`${summary}.${description === undefined ? '' : ` ${description}`}`).replace(/\bdocs\/(\w[\w-]*)\.md\b/g, '[docs/$1.md](../$1.md)')}`,
).join('\n')}

## Parameters

Required are positions, codes, \`uniqueId\` and what is in a path; all else has a default.

${parameters.join('\n')}

## Status words

${table(['`status`', 'HTTP', 'elsewhere', 'meaning', 'what to do'], words)}

## Error codes

The \`code\` of [errors](../http.md#errors). Codes may be added.

- 400: ${REQUEST_CODES.map(code).join(', ')}: a required parameter or member is missing; one is wrong; all else
- items of a batch: the first two, and ${ITEM_CODES.map(code).join(', ')}: the text is not a hexcode (also of 404 at a code); the position is in no province nor its sea
${Object.entries(CODES)
  .map(([status, word]) => `- ${status}: ${code(word)}`)
  .join('\n')}

## Names of columns

Columns of CSV over HTTP and of files, without regard to case, and to blanks around them. Names before a semicolon are
taken before those after it; \`y\` and \`x\` only if there is none of the others.

${COLUMN_NAMES.map(([kind, lists]) => `- ${kind}: ${lists.map((names) => names.map(code).join(', ')).join('; ')}`).join('\n')}

## Close codes

How the [stream](../stream.md#closing) ends, why, and what to do.

${CLOSE_CODES.map(([number, why]) => `- ${number}: ${why}`).join('\n')}
- none (1006): The connection was lost, or the client broke RFC 6455 (text that is not UTF-8, no mask), or sent a message of more than twice \`max_frame_bytes\`. Connect again.
`;
}

/** The meaning of an option, and its default where the meaning does not say it. */
export function optionText({ description, defaultValue, defaultValueDescription }) {
  const usual =
    defaultValue === undefined || defaultValue === '' || typeof defaultValue === 'boolean'
      ? ''
      : (defaultValueDescription ?? [defaultValue].flat().join(', '));
  // How many cores this machine has is not part of the page, nor the variable of a setting.
  const about = description
    .replace(/ *\[\w+\]$/, '')
    .replace(/default \d+, one a core/, 'default one a core');
  return { about, usual };
}

function optionEntry(option) {
  const { about, usual } = optionText(option);
  return entry([option.flags], about + (usual === '' ? '' : ` (${usual})`));
}

/** Paragraphs of a command's help after its options, without examples and settings. */
function notesOf(command) {
  let text = '';
  command.emit('afterHelp', { error: false, command, write: (part) => (text += part) });
  return text
    .replace(/^Examples:\n(?: .*\n?)+/m, '')
    .replace(/^(?:Secrets, f|F)rom the environment or the file only:\n(?: .*\n?)+/m, '')
    .trim()
    .split(/\n\n+/)
    .map((part) => part.replaceAll('\n', ' '))
    .filter(Boolean);
}

/** Each command with those below it: its words and its options. */
const withinCommand = (command, name) => [
  {
    usage: [
      name,
      ...command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`)),
    ].join(' '),
    about: command.description(),
    notes: notesOf(command),
    options: command.options.filter(({ hidden }) => !hidden),
  },
  ...command.commands.flatMap((each) => withinCommand(each, `${name} ${each.name()}`)),
];

const flagOf = (line) => /--[\w-]+/.exec(line)?.[0] ?? '';

/** All commands, those below others after them. */
export async function commandsOf() {
  const whole = new Command('hexcodes');
  for (const { load } of Object.values(COMMANDS)) (await load()).default(whole);
  return whole.commands.flatMap((command) => withinCommand(command, command.name()));
}

async function commandPage() {
  const all = await commandsOf();
  const found = all
    .filter(({ usage }) => !/^serve\b/.test(usage))
    .map((command) => ({ ...command, rows: command.options.map(optionEntry) }));
  const every = found.flatMap(({ rows }) => rows);
  const timesOf = (line) => every.filter((each) => each === line).length;
  const isShared = (line) => {
    const others = every.filter((each) => each !== line && flagOf(each) === flagOf(line));
    return timesOf(line) >= SHARED_BY && others.every((each) => timesOf(each) < timesOf(line));
  };
  const sections = found.flatMap(({ usage, about, notes, rows }) => {
    const shared = rows.filter(isShared).map((line) => code(flagOf(line)));
    const own = rows.filter((line) => !isShared(line));
    return [
      `## ${escaped(usage)}\n`,
      `${about}${shared.length === 0 ? '' : `\n\nShared options: ${shared.join(', ')}`}\n`,
      ...(own.length === 0 ? [] : [`${own.join('\n')}\n`]),
      ...notes.map((note) => `${escaped(note)}\n`),
    ];
  });
  return `# Options of the command

${WRITTEN}; \`hexcodes COMMAND --help\` says the same, with examples. [The page of the command](../command.md) explains what they
do. The flags of \`serve\` are its [settings](settings.md).

## Shared options

${[...new Set(every.filter(isShared))].join('\n')}

${sections.join('\n').trimEnd()}

## Exit codes

${EXIT_CODES.map(([number, , whole]) => `- ${number}: ${whole}`).join('\n')}
`;
}

/** The alerts of a file, each with its summary and the comment above it. */
function alertsOf(name) {
  const text = readFileSync(`deploy/prometheus/${name}`, 'utf8');
  const alerts = text.matchAll(/((?: +#.*\n)+) +- alert: (\w+)\n[\s\S]*?summary: "(.*)"/g);
  return [...alerts].map(([, comment = '', alert = '', summary = '']) => {
    const remedy = comment
      .replace(/^ +# ?/gm, '')
      .trim()
      .replaceAll('\n', ' ');
    const shown = summary.replace(/\{\{.*?\}\}/g, '…');
    return `### ${alert}\n\n*${shown[0].toUpperCase()}${shown.slice(1)}.* ${remedy}\n`;
  });
}

const alertsPage = () => `# Alerts

${WRITTEN}, from the rules and comments of \`deploy/prometheus/\`: what each alert means, and what to do.

## The service

${alertsOf('alerts.yml').join('\n')}
## Workers

${alertsOf('workers.yml').join('\n').trimEnd()}
`;

/** bench/README.md as it is up to its heading "Results", and the table of bench/results.json. */
function benchPage() {
  const { machines, results } = JSON.parse(readFileSync('bench/results.json', 'utf8'));
  const [head] = readFileSync(BENCH_PAGE, 'utf8').split('\n## Results\n');
  const named = Object.entries(machines).map(([letter, machine]) => `${letter}: ${machine}`);
  return `${head}
## Results

Commit and machine of each run are in the last column. ${named.join('; ')}.

${table(
  ['bench', 'what', 'result', 'run'],
  results.map(([by, ...cells]) => row(code(by), ...cells.map(escaped))),
)}
`;
}

/** @returns the text of each page, by its path */
export async function referencePages() {
  return {
    [BENCH_PAGE]: benchPage(),
    [join(FOLDER, 'settings.md')]: settingsPage(),
    [join(FOLDER, 'http.md')]: httpPage(),
    [join(FOLDER, 'command.md')]: await commandPage(),
    [join(FOLDER, 'kernel.md')]: kernelPage(WRITTEN),
    [join(FOLDER, 'alerts.md')]: alertsPage(),
  };
}

if (isProgram) {
  const isCheck = process.argv.includes('--check');
  for (const [path, text] of Object.entries(await referencePages())) {
    if (!isCheck) writeFileSync(path, text);
    else if (readFileSync(path, 'utf8') !== text) {
      console.log(`${path} is out of date: node tools/reference.mjs`);
      process.exitCode = 1;
    }
  }
}
