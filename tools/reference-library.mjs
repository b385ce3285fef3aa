// The page of the library's exports: names, types and comments of the declarations that ship with `hexcodes`.
// tools/reference.mjs writes it.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FOLDER = 'src/hexcodes/dist';

/** Modules that users import: the declarations of each, whole files or what a file exports from others. */
const MODULES = [
  ['hexcodes', ['extras.d.ts', 'library/hexcodes.d.ts', 'errors.d.ts', 'admin-units.d.ts'], []],
  ['hexcodes/geometry', [], ['geometry.d.ts']],
  ['hexcodes/client', ['client/client.d.ts'], ['client/public.d.ts']],
];
/** Types that users do not name. */
const LEFT_OUT = ['Platform', 'StandardWebSocket', 'WebSocketConstructor'];
/** The names that users meet of a file whose others the package keeps for itself. */
const NAMED = { 'extras.d.ts': ['ExtrasAsked'] };

/** Members that users neither call nor read. */
const OF_THE_INSIDE = /^(?:#private|protected |name = |\[Symbol|new (?!CellSet|HexcodesClient\())/;

const COMMENT = String.raw`\/\*\*((?:(?!\*\/)[\s\S])*)\*\/`;
const textOf = (comment) =>
  comment
    .replace(/^[ \t]*\* ?/gm, '')
    .trim()
    .replace(/\n(?=[ \t]*\n|- )/g, '\0')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\0\s*/g, ' ');
const sentence = (text) => (text === '' || /[.:;!?]$/.test(text) ? text : `${text}.`);
const escaped = (text) => text.replaceAll('<', '&lt;');

/** A comment as sentences: what is said of parameters, answers and errors after the rest. */
function wordsOf(comment) {
  const [about = '', ...tags] = textOf(comment).split(/(?:^|\s)@(?=param|returns|throws)/);
  const said = tags.flatMap((tag) => {
    const [, kind, rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(tag.trim()) ?? [];
    if (kind !== 'param')
      return [
        `${kind === 'returns' ? 'Returns' : 'Throws'} ${rest.replace(/^Hexcodes(?:Client)?Error /, '')}`,
      ];
    const [, name = '', what = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
    return name === 'none' || what === 'a loaded library' ? [] : [`\`${name}\`: ${what}`];
  });
  return escaped([about.trim(), ...said].map(sentence).filter(Boolean).join(' '));
}

/** A declaration on one line, without what only a compiler reads. */
const shortened = (text) =>
  text
    .replace(new RegExp(COMMENT, 'g'), '')
    .replace(/\s+/g, ' ')
    .replace(/^export (?:declare )?(?:function )?/, '')
    .replace(/;$/, '')
    .replace(/\breadonly /g, '')
    .replace(/<T extends Hexcodes>\(this: new \(kernel: Kernel\) => T(?:, )?/, '(')
    .replace(/,? ?\.\.\.none: never\[\]|, platform: Platform/, '')
    .replace('Promise<T>', 'Promise<Hexcodes>')
    .replace(/: T$/, ': Hexcodes')
    .trim();
const entry = (indent, code, comment) => {
  const words = comment === undefined ? '' : wordsOf(comment);
  return `${indent}- \`${code.replaceAll('`', '')}\`${words === '' ? '' : `: ${words}`}`;
};

/** Members of a class or interface, each with its comment where it has one. */
function membersOf(body, name) {
  const found = body.matchAll(
    new RegExp(String.raw`^ {4}(?:${COMMENT}\s*)?((?!\}|\/\*)\S[^\n]*(?:\n(?: {8}.*| {4}\}.*))*)$`, 'gm'),
  );
  return [...found].flatMap(([, comment, text]) => {
    const code = shortened(text).replace(/^constructor/, `new ${name}`);
    return OF_THE_INSIDE.test(code) || /^[^(]*\)$/.test(code) ? [] : [entry('  ', code, comment)];
  });
}

/** The exported declarations of a file: name, and entries of a list. */
function declarationsOf(path) {
  const text = readFileSync(join(FOLDER, path), 'utf8');
  const pattern = new RegExp(
    String.raw`^(?:${COMMENT}\n)?((?:export )?(?:declare )?(function|(?:abstract )?class|interface|type|const) (\w+)[\s\S]*?(?:;$|^\}$|\{\s*\}$))`,
    'gm',
  );
  const found = new Map();
  const exported = new Set();
  for (const [, comment, code, kind, name] of text.matchAll(pattern)) {
    if (code.startsWith('export ')) exported.add(name);
    if (kind.endsWith('class') || kind === 'interface') {
      const at = text.indexOf(code);
      const body = text.slice(at, text.indexOf('\n}', at));
      const [, parents = ''] =
        / extends ([\w, ]*\w)/.exec(body.slice(0, body.indexOf('{')).replace(/<[^<]*>/g, '')) ?? [];
      const inherited = found.get(parents)?.slice(1) ?? [];
      const title = kind === 'class' || parents === '' ? name : `${name} extends ${parents}`;
      const own = membersOf(body.slice(body.indexOf('\n')), name);
      found.set(name, [entry('', title, comment), ...(kind === 'class' ? inherited : []), ...own]);
    } else if (kind === 'type') {
      const end = /;\n(?=export|\/\*\*|$)/.exec(text.slice(text.indexOf(code)));
      const whole = text.slice(text.indexOf(code), text.indexOf(code) + (end?.index ?? code.length));
      const words = [...whole.matchAll(new RegExp(String.raw`${COMMENT}\s*((?:\s*\|?\s*'\w+')+)`, 'g'))];
      const values = whole.slice(whole.indexOf('=') + 1);
      const list = words.map(([, about, word]) => entry('  ', shortened(word).replace(/^\| /, ''), about));
      found.set(name, [
        entry('', words.length > 0 ? name : `${name}: ${shortened(values)}`, comment),
        ...list,
      ]);
    } else found.set(name, [entry('', kind === 'const' ? name : shortened(code), comment)]);
  }
  const named = NAMED[path];
  return [...found].filter(([name]) => exported.has(name) && (named === undefined || named.includes(name)));
}

/** Entries of what a file exports from others. */
function exportedBy(path) {
  const text = readFileSync(join(FOLDER, path), 'utf8');
  return [...text.matchAll(/^export (?:type )?(?:\*|\{([^}]*)\}) from '(.*)\.js';$/gm)].flatMap(
    ([, names, from]) => {
      const declared = declarationsOf(join(dirname(path), `${from}.d.ts`));
      const wanted = names
        ?.split(',')
        .map((name) => name.trim().replace(/^type /, ''))
        .filter(Boolean);
      return declared.filter(([name]) => wanted === undefined || wanted.includes(name));
    },
  );
}

/** @param written what the page says about its making */
export function libraryPage(written) {
  const sections = MODULES.map(([name, whole, others]) => {
    const declared = [...whole.flatMap(declarationsOf), ...others.flatMap(exportedBy)];
    const list = declared.filter(([each]) => !LEFT_OUT.includes(each)).flatMap(([, entries]) => entries);
    return `## ${name}\n\n${list.join('\n')}\n`;
  });
  return `# Exports of the library

${written}, from the declarations of the package. [How to use them](../library.md); the client: [examples](../bulk.md#the-client).
A function of \`hexcodes/geometry\` takes a loaded library first. \`hexcodes/web\` and \`hexcodes/web/geometry\` export the same.

${sections.join('\n').trimEnd()}
`;
}
