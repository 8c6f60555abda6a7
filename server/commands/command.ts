// What all commands of ks-apiserver have in common: their input and output, and their command line.
import { ConfigurationError } from '../../apis/config/v1alpha1/configuration-error.ts';
import { StartupError } from '../../apis/config/v1alpha1/startup-error.ts';
import {
  type Arguments,
  type CommandLine,
  type Flags,
  parseCommandLine,
  UsageError,
  usageText,
} from '../../apis/reading/command-line.ts';
import type { Environment } from '../config/environment.ts';
import { rejectConsumedFlags } from './npm-flags.ts';
import type { PasswordSource } from './password-input.ts';

/** Whether an error is an invalid command line or configuration, for which programs exit with 2. */
export function isInvalidInput(error: unknown): error is Error {
  return error instanceof UsageError || error instanceof ConfigurationError || error instanceof StartupError;
}

/** What a command gets from the process. */
export interface CommandContext {
  /** Arguments after the name of the command. */
  readonly args: readonly string[];
  readonly environment: Environment;
  /** Paths in arguments are relative to it. */
  readonly workingDirectory: string;
  /** Standard input. */
  readonly input: PasswordSource;
  /** Write to standard output and standard error. */
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
}

/** A command. Returns the exit code. Throws UsageError, and other errors with a message for the operator. */
export type Command = (context: CommandContext) => Promise<number>;

/** Parses the arguments of a command and runs `work` with them, or prints the help. */
export async function runCommandLine<const Known extends Flags>(
  declared: CommandLine<Known>,
  context: Pick<CommandContext, 'args' | 'print'> & { readonly environment: Pick<Environment, 'variables'> },
  work: (given: Arguments<Known>, command: string) => Promise<number>,
): Promise<number> {
  const { variables } = context.environment;
  const command = spellingOf(declared.command, variables);
  const line = { ...declared, command };
  rejectConsumedFlags(line, variables);
  const given = parseCommandLine(line, context.args);
  if (given) return work(given, command);
  context.print(`${usageText(line)}\n`);
  return 0;
}

/** The beginning of the command line as the operator has typed it: in a clone, the npm script of the same name. */
function spellingOf(command: string, variables: NodeJS.ProcessEnv): string {
  const script = variables['npm_lifecycle_event'];
  return script !== undefined && command === `ks-apiserver ${script}` ? `npm run ${script} --` : command;
}
