// Parser of the tools' command lines. Each error message is one line.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { suggestion } from '../../apis/reading/suggestion.ts';

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** An invalid command line; `message` is one line. */
export class UsageError extends Error {}

/**
 * `parseArgs` that suggests the nearest flag for an unknown one, and rejects empty values, which usually come from
 * unset shell variables. Throws UsageError.
 */
export function parseCommandLine<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  const { args = process.argv.slice(2), options = {}, allowPositionals = false } = config;
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional' && !allowPositionals) throw unexpectedArgument(token.value);
    if (token.kind !== 'option') continue;
    const { rawName, name, value, inlineValue } = token;
    const type = Object.hasOwn(options, name) ? options[name]?.type : undefined;
    if (type === undefined) {
      const known = Object.keys(options).map((flag) => `--${flag}`);
      throw unknownFlag(rawName, known);
    }
    if (type === 'boolean') {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value; see --help`);
    } else if (value === undefined || value === '' || (!inlineValue && value.startsWith('-'))) {
      throw new UsageError(`${rawName} needs a value; see --help`);
    }
  }
  return parseArgs(config);
}

function unknownFlag(name: string, known: readonly string[]): UsageError {
  return new UsageError(`unknown flag ${name}; ${meant(name, known)}`);
}

export function unexpectedArgument(text: string): UsageError {
  return new UsageError(`unexpected argument "${text}"; see --help`);
}

/** Error for an unknown or missing command of a script. */
export function unknownCommand(given: string | undefined, known: readonly string[]): UsageError {
  if (given === undefined)
    return new UsageError(`a command is missing: ${alternatives.format(known)}; see --help`);
  return new UsageError(`there is no command "${given}"; ${meant(given, known)}`);
}

/** Parses the value of a numeric flag, digits only. */
export function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${flag} ${text}: a whole number from ${least} to ${most} is needed`);
}

function meant(given: string, known: readonly string[]): string {
  const near = suggestion(given, known);
  return near === undefined ? 'see --help' : `did you mean ${near}?`;
}
