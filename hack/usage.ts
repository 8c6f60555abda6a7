import { suggestion } from '../apis/meta/v1/suggestion.ts';

/** A command line that cannot be understood; `message` is one line. */
export class UsageError extends Error {}

/** What `parse` gives; of the words of parseArgs about a fault, the first sentence. */
export function understood<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    const isFault =
      error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_');
    if (!isFault) throw error;
    const [sentence = ''] = error.message.split(/\.?\n|\. /, 1);
    throw new UsageError(`${sentence}; see --help`);
  }
}

export function unknownFlag(name: string, known: readonly string[]): UsageError {
  return new UsageError(`unknown flag ${name}; ${meant(name, known)}`);
}

export function unexpectedArgument(text: string): UsageError {
  return new UsageError(`unexpected argument "${text}"; see --help`);
}

/** Of a script with several commands: `given` is none of them. */
export function commandFault(given: string | undefined, known: readonly string[]): UsageError {
  if (given === undefined) return new UsageError(`a command is missing: ${known.join(' or ')}; see --help`);
  return new UsageError(`there is no command "${given}"; ${meant(given, known)}`);
}

function meant(given: string, known: readonly string[]): string {
  const near = suggestion(given, known);
  return near === undefined ? 'see --help' : `did you mean ${near}?`;
}
