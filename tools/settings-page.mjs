// `node tools/settings-page.mjs > docs/reference/settings.md`: every setting as a page, from the settings themselves.
import { BUS_NAMES, flaglessOf, flagsOf, SETTING_NAMES } from '#dist/config/config.js';

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const row = (variable, flag, help) => `| \`${variable}\` | ${flag} | ${cell(help)} |`;

function table(names) {
  const flags = flagsOf(names).map(({ flags, help }) => {
    const [, about = '', variable = ''] = /^(.*) \[(\w+)\]$/.exec(help) ?? [];
    return row(variable, `\`${flags.replaceAll('|', '\\|')}\``, about);
  });
  const rest = flaglessOf(names).map(({ variable, help }) => row(variable, '', help));
  return ['| variable | flag | meaning (default) |', '|---|---|---|', ...flags, ...rest].join('\n');
}

console.log(`# Settings

Written by \`node tools/settings-page.mjs\`; \`hexcodes serve --help\` says the same. [The page of the service](../http.md#configuration) says
where settings are read from. A setting without a flag is secret, or belongs to the environment.

## The service

${table(SETTING_NAMES)}

## Workers and jobs on a message bus

${table(BUS_NAMES)}`);
