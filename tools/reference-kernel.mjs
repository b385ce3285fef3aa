// The page of the kernel's exports: names, types and sizes of kernel.wasm, meanings of the comments in
// src/hexcodes/kernel/exports.ts. tools/reference.mjs writes it.
import { readFileSync } from 'node:fs';
import { INDEX_REFUSALS } from '#dist/hexcodes/kernel/index-file.js';

const SOURCE = 'src/hexcodes/kernel/exports.ts';
const VALUE_TYPES = { 127: 'i32', 126: 'i64', 125: 'f32', 124: 'f64' };

/** @returns the types of the exported functions of a module, by name, read from its sections */
function signaturesOf(bytes) {
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const list = (read) => Array.from({ length: number() }, read);
  const valueType = () => VALUE_TYPES[bytes[at++]];
  let types = [];
  let functions = [];
  const found = new Map();
  while (at < bytes.length) {
    const section = bytes[at++];
    const end = number() + at;
    if (section === 1)
      types = list(() => {
        at++;
        return { takes: list(valueType), gives: list(valueType)[0] };
      });
    if (section === 3) functions = list(number);
    if (section === 7)
      list(() => {
        const size = number();
        const name = new TextDecoder().decode(bytes.subarray(at, at + size));
        at += size;
        const kind = bytes[at++];
        const index = number();
        if (kind === 0) found.set(name, types[functions[index]]);
      });
    at = end;
  }
  return found;
}

/** The text of a comment, in one line. */
const textOf = (comment) =>
  comment
    .replace(/^\s*\/\*\*|\*\/\s*$/g, '')
    .replace(/^\s*\*/gm, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Members of an interface of the source: the comment before them, their name, and the names of their parameters. */
function membersOf(source, name) {
  const [, body = ''] = new RegExp(`^interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source) ?? [];
  const members = [];
  let about = '';
  for (const [, comment, property, call, parameters = ''] of body.matchAll(
    /(\/\*\*[\s\S]*?\*\/)|readonly (\w+): \w|^ {2}(\w+)\(([^)]*)\)/gm,
  )) {
    if (comment !== undefined) about = textOf(comment);
    else members.push({ name: property ?? call, about, parameters: parameters.match(/\w+(?=:)/g) ?? [] });
  }
  return members;
}

/** @param written says what wrote the page; @returns its text */
export function kernelPage(written) {
  const source = readFileSync(SOURCE, 'utf8');
  const bytes = readFileSync('dist/kernel.wasm');
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const signatures = signaturesOf(bytes);
  const calls = membersOf(source, 'KernelCalls').map(({ name, about, parameters }) => {
    const { takes, gives } = signatures.get(name);
    const typed = takes.map((type, i) => `${parameters[i]}: ${type}`).join(', ');
    return `- \`${name}(${typed})${gives === undefined ? '' : `: ${gives}`}\`: ${about}`;
  });
  const globals = membersOf(source, 'KernelGlobals')
    .filter(({ name }) => name !== 'memory')
    .map(({ name, about }) => {
      const isConstant = /_BYTES$|_COUNT$|_VERSION$|^CAPACITY$/.test(name);
      return `- \`${name}\`${isConstant ? ` = ${exports[name].value}` : ''}: ${about}`;
    });
  const refusals = INDEX_REFUSALS.flatMap((reason, i) => (i === 0 ? [] : [`- ${i}: ${reason}`]));
  return `# Exports of the kernel

${written}, from \`kernel.wasm\` and the comments of \`${SOURCE}\`. [How a host
loads it](../kernel-abi.md).

## Calls

Those from \`useCsvColumns\` on scan and write text for \`src/hexcodes/wire/\`.

${calls.join('\n')}

## Answers of useIndex

${refusals.join('\n')}

## Addresses, sizes and variables

And \`memory\`, the memory. Names with a small letter are variables, those with a value constants, all others addresses.

${globals.join('\n')}
`;
}
