// Command lines of the programs. One declaration of the flags is the source of the parser and of the usage text.
import { parseArgs } from 'node:util';
import { suggestion } from './suggestion.ts';

export interface Flag {
  /** Placeholder of the value in the usage text, such as `FILE`; undefined: the flag takes no value. */
  readonly value?: string;
  /** One-letter form. */
  readonly short?: string;
  readonly default?: string;
  /** The flag may be repeated. */
  readonly multiple?: true;
  /** May have several lines. */
  readonly description: string;
}

export type Flags = Readonly<Record<string, Flag>>;

export interface CommandLine<Known extends Flags = Flags> {
  /** First words of the command, such as `npm run keys --`. */
  readonly command: string;
  /** Arguments of each form of the command. */
  readonly usage: readonly string[];
  /** What the program does; may have several paragraphs. */
  readonly about: string;
  /** Without `--help`, which every program has. */
  readonly flags: Known;
  /** Text after the list of flags. */
  readonly notes?: string;
  /** Maximum number of arguments that are not flags; 0 if undefined. */
  readonly maxArguments?: number;
}

type ValueOf<Known extends Flag> = Known extends { readonly value: string }
  ? Known extends { readonly multiple: true }
    ? readonly string[]
    : Known extends { readonly default: string }
      ? string
      : string | undefined
  : boolean;

export interface Arguments<Known extends Flags> {
  readonly values: { readonly [Name in keyof Known]: ValueOf<Known[Name]> };
  readonly positionals: readonly string[];
}

/** An invalid command line; `message` is one line. */
export class UsageError extends Error {}

const HELP: Flag = { short: 'h', description: 'print this text and exit' };

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/**
 * Parses a command line; the result is undefined if it contains `--help`. Rejects empty values, which usually come from
 * unset variables of a shell. Throws UsageError.
 */
export function parseCommandLine<const Known extends Flags>(
  line: CommandLine<Known>,
  args: readonly string[],
): Arguments<Known> | undefined {
  const flags: Flags = { ...line.flags, help: HELP };
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(flags).map(([name, { short, value }]) => [
        name,
        { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (tokens.some((token) => token.kind === 'option' && token.name === 'help' && token.value === undefined)) {
    return undefined;
  }
  const values = Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, initialValue(flag)]));
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { rawName, name, value, inlineValue } = token;
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (flag === undefined) throw unknownFlag(rawName, flags);
    if (flag.value === undefined) {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value; see --help`);
      values[name] = true;
    } else if (value === undefined || value === '' || (!inlineValue && value.startsWith('-'))) {
      throw new UsageError(`${rawName} needs a value: ${rawName} ${flag.value}`);
    } else {
      const earlier = values[name];
      values[name] = Array.isArray(earlier) ? [...earlier, value] : value;
    }
  }
  rejectMore(positionals.slice(line.maxArguments ?? 0));
  return { values: values as Arguments<Known>['values'], positionals };
}

function initialValue({ value, multiple, default: text }: Flag): unknown {
  if (value === undefined) return false;
  return multiple ? [] : text;
}

/** Text of `--help`. */
export function usageText({ command, usage, about, flags, notes }: CommandLine): string {
  const rows = Object.entries({ ...flags, help: HELP }).map(([name, { short, value, ...flag }]) => {
    const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
    const addition = flag.default ? ` (default ${flag.default})` : '';
    return {
      names: value === undefined ? names : `${names} ${value}`,
      lines: `${flag.description}${addition}`.split('\n'),
    };
  });
  const width = Math.max(...rows.map(({ names }) => names.length));
  const list = rows.flatMap(({ names, lines }) =>
    lines.map((text, index) => `  ${(index === 0 ? names : '').padEnd(width)}  ${text}`),
  );
  const forms = usage.map((form, index) =>
    `${index === 0 ? 'Usage: ' : '       '}${command} ${form}`.trimEnd(),
  );
  return [forms.join('\n'), about, list.join('\n'), ...(notes === undefined ? [] : [notes])].join('\n\n');
}

/** Throws for arguments that the command does not take. */
function rejectMore([unexpected]: readonly string[]): void {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}"; see --help`);
}

/** Error for an unknown or missing command of a program. */
export function unknownCommand(given: string | undefined, known: readonly string[]): UsageError {
  if (given === undefined)
    return new UsageError(`a command is missing: ${alternatives.format(known)}; see --help`);
  return new UsageError(`there is no command "${given}"; ${nearest(given, known)}`);
}

/** Parses the value of a numeric flag, digits only. */
export function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${flag} ${text}: a whole number from ${least} to ${most} is needed`);
}

function unknownFlag(name: string, flags: Flags): UsageError {
  const known = Object.keys(flags).map((flag) => `--${flag}`);
  return new UsageError(`unknown flag ${name}; ${nearest(name, known)}`);
}

function nearest(given: string, known: readonly string[]): string {
  const near = suggestion(given, known);
  return near === undefined ? 'see --help' : `did you mean ${near}?`;
}
