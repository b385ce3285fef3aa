// `hexcodes completion bash|zsh|fish`: a completion script for the shell, made from the declared commands.

import { Argument, type Command } from 'commander';
import { FILE_FORMATS } from '../files/format.js';

/** One command as the scripts complete it. */
export interface CommandShape {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly {
    readonly flags: readonly string[];
    readonly about: string;
    readonly takes: string | null;
  }[];
  /** Words for its first argument: subcommands or choices. */
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

/** Words for the value of an option, by option. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  '--from': FILE_FORMATS,
  '--to': FILE_FORMATS,
  '--errors': ['keep', 'skip', 'stop'],
  '--resolution': Array.from({ length: 16 }, (_, resolution) => String(resolution)),
};

/** Options whose value is a file. */
const FILE_OPTIONS = new Set(['--output', '--errors', '--index']);

/** @param loadAll declares every command of the registry */
export function declareCompletion(program: Command, loadAll: () => Promise<readonly Command[]>): void {
  const command = program
    .command('completion')
    .summary('shell completion for bash, zsh or fish')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes completion bash > ~/.local/share/bash-completion/completions/hexcodes
  $ hexcodes completion zsh > "\${fpath[1]}/_hexcodes"
  $ hexcodes completion fish > ~/.config/fish/completions/hexcodes.fish`,
    );
  command.action(async (shell: 'bash' | 'zsh' | 'fish') => {
    const shapes = [...(await loadAll()), command].map(shapeOf);
    process.stdout.write(SCRIPTS[shell](shapes));
  });
}

function shapeOf(command: Command): CommandShape {
  const choices = command.registeredArguments.flatMap((argument) => argument.argChoices ?? []);
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    options: command.options.map((option) => ({
      flags: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null) as string[],
      about: option.description,
      takes: option.required || option.optional ? (option.long ?? option.short ?? null) : null,
    })),
    words: [...command.commands.map((each) => each.name()), ...choices],
    takesFiles: command.registeredArguments.some((argument) => /files|what/.test(argument.name())),
  };
}

const SCRIPTS = { bash, zsh, fish };

function bash(shapes: readonly CommandShape[]): string {
  const cases = shapes.map(({ name, options, words, takesFiles }) => {
    const flags = options.flatMap((option) => option.flags).join(' ');
    const files = takesFiles ? ' files=1' : '';
    return `    ${name}) words="${[...words, flags].filter((word) => word !== '').join(' ')}"${files} ;;`;
  });
  const values = Object.entries(VALUES).map(([flag, words]) => {
    const short = flag === '--resolution' ? '-r|' : '';
    const also = FILE_OPTIONS.has(flag) ? ' $(compgen -f -- "$cur")' : '';
    return `    ${short}${flag}) COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$cur")${also}); return ;;`;
  });
  return `# bash completion for hexcodes
_hexcodes() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words="" files=""
  case $prev in
${values.join('\n')}
    -o|--output|--index) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${shapes.map(({ name }) => name).join(' ')} help --help --version" -- "$cur"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words --help" -- "$cur"))
  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _hexcodes hexcodes
`;
}

function zsh(shapes: readonly CommandShape[]): string {
  const quoted = (text: string): string => text.replaceAll("'", '’').replace(/[[\]:]/g, ' ');
  const commands = shapes.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`).join('\n');
  const cases = shapes.map(({ name, options, words, takesFiles }) => {
    const specs = options.flatMap(({ flags, about, takes }) =>
      flags.map((flag) => {
        const values = takes === null ? '' : `:value:${actionOf(takes)}`;
        return `        '${flag}[${quoted(about)}]${values}'`;
      }),
    );
    if (words.length > 0) specs.push(`        '1:what:(${words.join(' ')})'`);
    if (takesFiles) specs.push("        '*:file:_files'");
    return `      ${name})\n        _arguments \\\n${specs.join(' \\\n')}\n        ;;`;
  });
  return `#compdef hexcodes
_hexcodes() {
  local -a commands
  commands=(
${commands}
  )
  _arguments -C '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
${cases.join('\n')}
      esac
      ;;
  esac
}
_hexcodes "$@"
`;
}

function actionOf(flag: string): string {
  const values = VALUES[flag];
  if (values !== undefined && !FILE_OPTIONS.has(flag)) return `(${values.join(' ')})`;
  if (values !== undefined) return `{_values value ${values.join(' ')}; _files}`;
  return FILE_OPTIONS.has(flag) ? '_files' : ' ';
}

function fish(shapes: readonly CommandShape[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = ['# fish completion for hexcodes', 'complete -c hexcodes -f'];
  for (const { name, summary, options, words, takesFiles } of shapes) {
    const seen = quoted(`__fish_seen_subcommand_from ${name}`);
    lines.push(`complete -c hexcodes -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    if (takesFiles) lines.push(`complete -c hexcodes -n ${seen} -F`);
    if (words.length > 0) lines.push(`complete -c hexcodes -n ${seen} -a ${quoted(words.join(' '))}`);
    for (const { flags, about, takes } of options) {
      const parts = flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const values = takes === null ? undefined : VALUES[takes];
      if (takes !== null) parts.push(FILE_OPTIONS.has(takes) ? '-r -F' : '-x');
      if (values !== undefined) parts.push(`-a ${quoted(values.join(' '))}`);
      lines.push(`complete -c hexcodes -n ${seen} ${parts.join(' ')} -d ${quoted(about)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
