// The table of the commands of ks-apiserver. Each command is loaded only when it runs, so that the table costs nothing at the
// start of the server.
import { UsageError, unknownCommand } from '../../apis/reading/command-line.ts';
import { explanationOf } from '../../apis/reading/thrown-value.ts';
import { type Command, type CommandContext, isInvalidInput } from './command.ts';
import { InterruptedError } from './password-input.ts';

interface TableEntry {
  /** One line for the list of commands. */
  readonly about: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: Readonly<Record<string, TableEntry>> = {
  user: {
    about: 'create users, set passwords, reset second factors, restore users from a backup',
    load: async () => (await import('./user-command.ts')).userCommand,
  },
  keys: {
    about: 'list and rotate the signing keys',
    load: async () => (await import('./keys-command.ts')).keysCommand,
  },
  kubeconfig: {
    about: 'print a kubeconfig with which people sign in to kubectl',
    load: async () => (await import('./kubeconfig-command.ts')).kubeconfigCommand,
  },
  config: {
    about: 'check a configuration file, and print the effective configuration',
    load: async () => (await import('./config-command.ts')).configCommand,
  },
  version: {
    about: 'print the version',
    load: async () => (await import('./version-command.ts')).versionCommand,
  },
};

/** The list of commands, for the help of the program. */
export function commandList(): string {
  const names = Object.keys(COMMANDS);
  const width = Math.max(...names.map((name) => name.length));
  const rows = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`);
  return ['Commands, each with --help:', ...rows].join('\n');
}

/**
 * Runs the command `name`, and returns the exit code: 2 for an invalid command line or configuration, 1 for other errors,
 * 130 after Ctrl-C.
 */
export async function runCommand(name: string, context: CommandContext): Promise<number> {
  try {
    const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (entry === undefined) throw new UsageError(unknownName(name));
    const command = await entry.load();
    return await command(context);
  } catch (error) {
    if (error instanceof InterruptedError) return 130;
    const isInvalid = isInvalidInput(error);
    const message = isInvalid ? error.message : explanationOf(error);
    for (const line of message.split('\n')) context.printError(`ks-apiserver: ${line}\n`);
    return isInvalid ? 2 : 1;
  }
}

function unknownName(name: string): string {
  const names = Object.keys(COMMANDS);
  const { message } = unknownCommand(name, names);
  const commands = new Intl.ListFormat('en-GB').format(names);
  return `${message}${message.endsWith('?') ? '' : '.'} The commands are ${commands}.`;
}
