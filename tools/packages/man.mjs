// The manual page of the command, hexcodes(1), from the declarations that docs/reference/command.md is written from.
// bundle.mjs puts it into the package of the command, whose global installation gives it to man.
import { EXIT_CODES } from '#dist/files/exit-codes.js';
import { commandsOf, optionText } from '../reference.mjs';

/** Text as roff prints it: hyphens that can be copied, and no line that is a request. */
const roff = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
const bold = (text) => `\\fB${roff(text)}\\fR`;

/** Text whose code in backticks is bold. */
const marked = (text) =>
  text
    .split('`')
    .map((part, i) => (i % 2 === 1 ? bold(part) : roff(part)))
    .join('');

const optionOf = (option) => {
  const { about, usual } = optionText(option);
  return `.TP\n${bold(option.flags)}\n${roff(about)}${usual === '' ? '' : ` (${roff(usual)})`}`;
};

function sectionOf({ usage, about, options }) {
  return [`.SS ${bold(`hexcodes ${usage}`)}`, roff(about), ...options.map(optionOf)].join('\n');
}

const EXAMPLES = [
  ['One position, and back', ['hexcodes encode 21.0288,105.8525', 'hexcodes decode HN-6GHP4-83RFR']],
  ['Files: by their extensions', ['hexcodes encode shops.csv -o shops.hex.parquet']],
  ['From a pipe', ['aws s3 cp s3://BUCKET/shops.csv - | hexcodes encode - -o out.csv']],
];

/** @returns the page as roff. @param version of the package */
export async function manPage(version) {
  const commands = await commandsOf();
  const examples = EXAMPLES.map(
    ([what, lines]) => `.PP\n${roff(what)}:\n.PP\n.nf\n.RS 4\n${lines.map(roff).join('\n')}\n.RE\n.fi`,
  );
  return `.\\" Written by tools/packages/man.mjs from the declarations of the command.
.TH HEXCODES 1 "" "hexcodes ${version}" "User Commands"
.SH NAME
hexcodes \\- GPS positions in Viet Nam to short codes and back
.SH SYNOPSIS
.B hexcodes
.I command
.RI [ options ]
.RI [ arguments ]
.SH DESCRIPTION
A position becomes a code such as ${bold('HN-6GHP4-83RFR')}: the letters name the province, the rest one hexagon of the H3 grid.
Files of CSV, Excel, NDJSON, GeoJSON, GPX, KML, GeoPackage, Parquet and Arrow are read, and
${bold('-')} is a pipe. ${bold('hexcodes COMMAND --help')} has examples of each command.
.SH COMMANDS
${commands.map(sectionOf).join('\n')}
.SH EXIT STATUS
${EXIT_CODES.map(([number, , meaning]) => `.TP\n${number}\n${marked(meaning)}`).join('\n')}
.SH EXAMPLES
${examples.join('\n')}
.SH SEE ALSO
The documents of the package: docs/command.md and docs/recipes.md.
`;
}
