// `hexcodes completion bash|zsh|fish`: a completion script for the shell, made from the declared commands.

import { Argument, type Command, type Option } from 'commander';
import { FILE_FORMATS, WRITTEN_FORMATS } from '../../files/format.js';

/** One command as the scripts complete it. */
interface CommandShape {
  /** Name with its parent command: `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionShape[];
  readonly subcommands: readonly CommandShape[];
  /** Choices of its first argument. */
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

interface OptionShape {
  readonly flags: readonly string[];
  readonly about: string;
  /** null for an option without one. */
  readonly value: OptionValue | null;
}

interface OptionValue {
  readonly words: readonly string[];
  readonly paths: 'files' | 'folders' | null;
}

/** Words for the value of an option, by option. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  '--errors': ['keep', 'skip', 'stop'],
  '--resolution': Array.from({ length: 16 }, (_, resolution) => String(resolution)),
};

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
  const name = command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
  return {
    name,
    summary: command.summary() || command.description(),
    options: command.options.map((option) => ({
      flags: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null) as string[],
      about: option.description,
      value: option.required || option.optional ? valueShape(option) : null,
    })),
    subcommands: command.commands.map(shapeOf),
    words: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    takesFiles: command.registeredArguments.some((argument) => /files|what/.test(argument.name())),
  };
}

/**
 * Values of an option, by its placeholder: `<folder>`, `<file>`, `<format>`, `<keep|skip|stop|FILE>`; by the option
 * itself where the placeholder is too general.
 */
function valueShape({ flags, long }: Option): OptionValue {
  if (/<folder>/.test(flags)) return { words: [], paths: 'folders' };
  if (/<file>/.test(flags)) return { words: [], paths: 'files' };
  if (/<format>/.test(flags))
    return { words: long === '--from' ? FILE_FORMATS : WRITTEN_FORMATS, paths: null };
  return { words: VALUES[long ?? ''] ?? [], paths: /\|FILE>/.test(flags) ? 'files' : null };
}

const lastWord = (name: string): string => name.slice(name.lastIndexOf(' ') + 1);
const nextWords = ({ subcommands, words }: CommandShape): string[] => [
  ...subcommands.map(({ name }) => lastWord(name)),
  ...words,
];
const SCRIPTS = { bash, zsh, fish };

function bash(shapes: readonly CommandShape[]): string {
  const all = shapes.flatMap((shape) => [shape, ...shape.subcommands]);
  const cases = all.map((shape) => {
    const flags = shape.options.flatMap((option) => option.flags).join(' ');
    const files = shape.takesFiles ? ' files=1' : '';
    const words = [...nextWords(shape), flags].filter((word) => word !== '').join(' ');
    return `    '${shape.name}') words="${words}"${files} ;;`;
  });
  const answers = new Map<string, string[]>();
  for (const { name, options } of all)
    for (const { flags, value } of options) {
      const words = value === null || value.words.length === 0 ? [] : [`-W "${value.words.join(' ')}"`];
      const paths = value?.paths == null ? [] : [value.paths === 'files' ? '-f' : '-d'];
      const answer = [...words, ...paths].map((each) => `$(compgen ${each} -- "$cur")`).join(' ');
      if (answer === '') continue;
      answers.set(answer, [...(answers.get(answer) ?? []), ...flags.map((flag) => `'${name} ${flag}'`)]);
    }
  const values = Array.from(answers, ([answer, keys]) => {
    return `    ${keys.join('|')}) COMPREPLY=(${answer}); return ;;`;
  });
  const inner = all.filter(({ name }) => name.includes(' ')).map(({ name }) => `'${name}'`);
  return `# bash completion for hexcodes
_hexcodes() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words="" files=""
  local command=\${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${shapes.map(({ name }) => name).join(' ')} help --help --version" -- "$cur"))
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command \${COMP_WORDS[2]}" in
      ${inner.join('|')}) command="$command \${COMP_WORDS[2]}" ;;
    esac
  fi
  case "$command $prev" in
${values.join('\n')}
  esac
  case $command in
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
  const specsOf = (shape: CommandShape): string[] => {
    const words = nextWords(shape);
    return [
      ...shape.options.flatMap(({ flags, about, value }) =>
        flags.map(
          (flag) => `'${flag}[${quoted(about)}]${value === null ? '' : `:value:${actionOf(value)}`}'`,
        ),
      ),
      ...(words.length === 0 ? [] : [`'1:what:(${words.join(' ')})'`]),
      ...(shape.takesFiles ? ["'*:file:_files'"] : []),
    ];
  };
  const caseOf = (shape: CommandShape, indent: string): string => {
    const { name, subcommands } = shape;
    const line = (words: readonly string[]): string => `${indent}  ${words.join(` \\\n${indent}  `)}\n`;
    if (subcommands.length === 0)
      return `${indent}${lastWord(name)})\n${line(['_arguments', ...specsOf(shape)])}${indent}  ;;`;
    const inner = subcommands.map((each) => caseOf(each, `${indent}      `)).join('\n');
    return `${indent}${name})
${line(['_arguments -C', ...specsOf(shape), "'*::inner:->inner'"])}${indent}  if [[ $state == inner ]]; then
${indent}    case $words[1] in
${inner}
${indent}    esac
${indent}  fi
${indent}  ;;`;
  };
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
${shapes.map((shape) => caseOf(shape, '        ')).join('\n')}
      esac
      ;;
  esac
}
_hexcodes "$@"
`;
}

function actionOf({ words, paths }: OptionValue): string {
  const files = paths === 'folders' ? '_files -/' : '_files';
  if (words.length === 0) return paths === null ? ' ' : files;
  return paths === null ? `(${words.join(' ')})` : `{_values value ${words.join(' ')}; ${files}}`;
}

function fish(shapes: readonly CommandShape[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = ['# fish completion for hexcodes', 'complete -c hexcodes -f'];
  const add = (shape: CommandShape, seen: string): void => {
    const { options, subcommands, words, takesFiles } = shape;
    if (takesFiles) lines.push(`complete -c hexcodes -n ${quoted(seen)} -F`);
    if (words.length > 0) lines.push(`complete -c hexcodes -n ${quoted(seen)} -a ${quoted(words.join(' '))}`);
    const inner = subcommands.map(({ name }) => lastWord(name));
    const noneSeen = `${seen}; and not __fish_seen_subcommand_from ${inner.join(' ')}`;
    for (const each of subcommands) {
      const name = lastWord(each.name);
      const about = quoted(each.summary);
      lines.push(`complete -c hexcodes -n ${quoted(noneSeen)} -a ${name} -d ${about}`);
      add(each, `${seen}; and __fish_seen_subcommand_from ${name}`);
    }
    for (const { flags, about, value } of options) {
      const parts = flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      if (value?.paths === 'folders') parts.push('-x -a "(__fish_complete_directories)"');
      else if (value !== null) parts.push(value.paths === 'files' ? '-r -F' : '-x');
      if (value !== null && value.words.length > 0) parts.push(`-a ${quoted(value.words.join(' '))}`);
      lines.push(`complete -c hexcodes -n ${quoted(seen)} ${parts.join(' ')} -d ${quoted(about)}`);
    }
  };
  for (const shape of shapes) {
    const { name, summary } = shape;
    lines.push(`complete -c hexcodes -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    add(shape, `__fish_seen_subcommand_from ${name}`);
  }
  return `${lines.join('\n')}\n`;
}
