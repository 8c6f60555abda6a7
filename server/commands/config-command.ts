// `ks-apiserver config check`: validates a configuration file with the code that the server runs at its start, and prints the
// effective configuration. A configuration contains no secrets, only the names of files and Secrets.
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import type { APIServerConfiguration } from '../../apis/config/v1alpha1/configuration.ts';
import { resolvePaths } from '../../apis/config/v1alpha1/resolve.ts';
import { type CommandLine, UsageError, unknownCommand } from '../../apis/reading/command-line.ts';
import { startupKubeConfig } from '../cluster/connection/kubeconfig.ts';
import { readOptions } from '../config/config.ts';
import { MOUNTED_CONFIGURATION } from '../config/options.ts';
import { describeFileError } from '../files/file-error.ts';
import { loadServingCertificate } from '../listener/certificates/certificate-files.ts';
import { type Command, type CommandContext, runCommandLine } from './command.ts';
import { mountedConfiguration } from './installation.ts';

const LINE = {
  command: 'ks-apiserver config',
  usage: ['check [FILE]'],
  about: `Validates a configuration file as the server does at its start, and prints the effective configuration, with all defaults, as YAML.
Exits with 2 if the server would not start with the file. Warnings are on standard error.

FILE is ${MOUNTED_CONFIGURATION} by default, if it exists. With -, the file is read from standard input.`,
  flags: {},
  maxArguments: 2,
} as const satisfies CommandLine;

export const configCommand: Command = (context) =>
  runCommandLine(LINE, context, async ({ positionals: [action, given] }) => {
    if (action !== 'check') throw unknownCommand(action, ['check']);
    const file = given ?? mountedConfiguration();
    if (file === undefined) throw new UsageError('check needs a file: check FILE');
    const source = file === '-' ? await standardInput(context) : { config: file };
    const { environment, workingDirectory } = context;
    const { options, warnings } = await readOptions({
      environment,
      workingDirectory,
      overrides: [],
      ...source,
    });
    const unreadable = await checkFiles(options, context);
    for (const warning of [...warnings, ...unreadable]) {
      context.printError(`ks-apiserver: warning: ${warning}\n`);
    }
    // Does not fold lines.
    context.print(stringify(options, { lineWidth: 0 }));
    return 0;
  });

/** The configuration in standard input. In a container of the server it replaces the mounted file, so paths are relative to that one. */
async function standardInput({ input, workingDirectory }: CommandContext) {
  const mounted = mountedConfiguration();
  return {
    config: 'standard input',
    text: await text(input),
    workingDirectory: mounted === undefined ? workingDirectory : dirname(mounted),
  };
}

/** Returns warnings about unreadable files, without which the server starts. Throws StartupError for the other ones. */
async function checkFiles(
  options: APIServerConfiguration,
  { environment }: CommandContext,
): Promise<string[]> {
  const { secure } = options.listeners;
  const { kubeconfig } = options.kubernetes;
  if (kubeconfig !== '') startupKubeConfig(kubeconfig, environment.variables);
  if (secure.certFile !== '') await loadServingCertificate(secure);
  const files: { readonly path: string; readonly option: string }[] = [];
  resolvePaths(options, (path, option) => {
    files.push({ path, option: option.join('.') });
    return path;
  });
  const checked = files.map(async ({ path, option }) => {
    try {
      await access(path, constants.R_OK);
      return [];
    } catch (error) {
      return [`${option}: ${path}: ${describeFileError(error)}`];
    }
  });
  return (await Promise.all(checked)).flat();
}
