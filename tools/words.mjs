// `node tools/words.mjs [PATH …]`: comments and identifiers against the rules of CONTRIBUTING.md, Words. Each fault
// is a line with file, line and rule; the exit code is 1 if there is one.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The compiler's interface before version 7, of the packages of test/judges. */
const ts = createRequire(new URL('../test/judges/package.json', import.meta.url))('typescript-5.2');

const TOP = ['assembly', 'src', 'test', 'bench', 'data', 'tools'];
const MAX_COLUMNS = 120;

/** Rules over the text of one comment, without its marks. */
const COMMENT_RULES = [
  [
    /^(?:Of|By|For|Below|Above|Once)\b/,
    'a comment begins with its subject, not with Of, By, For, Below, Above or Once',
  ],
  [
    /^(?:The same\b|(?:Those|Such|Them|They|It|These)\s)/,
    'a comment begins with a noun, not with The same, Those, Such, They or It',
  ],
  [/(?:^|\. )What /, 'no clause with What is a subject'],
  [/\b(?:anew|fallow|for ever)\b/i, 'say again, idle or without end'],
  [
    /\b(?:that|it|which|one) (?:is|are) no (?!longer|more|less|larger|faster|slower|finer|better|worse|such)\w/i,
    'say is not a',
  ],
  [/\bso (?:many|often|long)\b/i, 'name the number or the time: no placeholder'],
  [/\bthe binary(?= (?:holds|takes|may|has|does|is|gives|closes|reads|writes)\b|[.,;:])/i, 'say uWS'],
];

/** The glossary's "not used" words in identifiers of what ships, and the exceptions by the beginning of a path. */
const UNUSED = /^(?:slots?|places?|rooms?)$/;
const EXCEPTIONS = {
  // The place that is chosen on the map, which the page names to its users.
  'src/console/': /^places?$/,
  // Places of the country with their names, as the endpoint calls them.
  'src/hexcodes/library/place': /^places?$/,
  'src/hexcodes/geometry.ts': /^places?$/,
  'src/server/api/bodies': /^places?$/,
  'src/server/routes/lookups': /^places?$/,
  // The names of FlatBuffers.
  'src/files/formats/arrow/': /^slots?$/,
};

/** Names of what `GET /v1/places` answers, wherever they are imported. */
const OF_ENDPOINT =
  /^(?:(?:[Ff]ind|Named)Places?(?:Options)?|[Pp]lace(?:Kind|Near|Names)|PLACE_(?:NAME|LIST))$/;

const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _$#]+/);

/** Comments of the space before a token: each with its offset; neighbouring lines of `//` are one. */
function* commentsIn(space, from) {
  for (const match of space.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*/g)) {
    yield { at: from + match.index, text: match[0] };
  }
}

const bareText = (comment) =>
  comment
    .replace(/\*\/$/, '')
    .replace(/^[ \t]*(?:\/\*+|\/\/|\*)[ \t]?/gm, '')
    .trim()
    .replace(/\s+/g, ' ');

/** @returns faults of one file, as `path:line rule` */
export function wordFaults(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const found = [];
  const say = (at, rule) => found.push(`${path}:${file.getLineAndCharacterOfPosition(at).line + 1} ${rule}`);
  const unix = path.split(sep).join('/');
  const exception = Object.entries(EXCEPTIONS).find(([start]) => unix.startsWith(start))?.[1];
  const ships = /^(?:assembly|src)\//.test(unix);

  const checkComment = ({ at, text: comment }) => {
    if (/^\/\/\/? ?(?:biome-ignore|@ts-|<reference|!)/.test(comment)) return;
    const bare = bareText(comment);
    for (const [pattern, rule] of COMMENT_RULES)
      if (pattern.test(bare)) say(at, `${rule}: ${bare.slice(0, 60)}`);
    let lineAt = text.lastIndexOf('\n', at) + 1;
    for (const line of text.slice(lineAt, at + comment.length).split('\n')) {
      if ([...line].length > MAX_COLUMNS)
        say(Math.max(lineAt, at), `a comment ends by column ${MAX_COLUMNS}`);
      lineAt += line.length + 1;
    }
  };
  const checkName = (name, at) => {
    if (OF_ENDPOINT.test(name)) return;
    const word = wordsOf(name).find((each) => UNUSED.test(each) && !exception?.test(each));
    if (word !== undefined) say(at, `the glossary does not use "${word}": ${name}`);
  };
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(file);
    if (children.some((child) => !ts.isJSDoc(child))) {
      for (const child of children) visit(child);
      return;
    }
    const start = node.getStart(file);
    for (const comment of commentsIn(text.slice(node.pos, start), node.pos)) checkComment(comment);
    if (ships && (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))) checkName(node.text, start);
  };
  visit(file);
  return found;
}

function* filesBelow(path) {
  if (!statSync(path).isDirectory()) {
    if (/\.(?:ts|mjs)$/.test(path)) yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) {
    if (!['node_modules', 'dist', 'sources'].includes(name)) yield* filesBelow(join(path, name));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const given = process.argv.slice(2);
  const scripts = readdirSync('.').filter((name) => name.endsWith('.mjs'));
  const tops = given.length === 0 ? [...TOP, ...scripts] : given;
  const paths = [...new Set(tops.flatMap((top) => [...filesBelow(top)]))];
  const faults = paths.flatMap((path) => wordFaults(path, readFileSync(path, 'utf8')));
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
