// Main program: runs a command, or starts the server and handles signals. No other file exits the process.
import { hostname } from 'node:os';
import { StartupError } from '../apis/config/v1alpha1/startup-error.ts';
import { usageText } from '../apis/reading/command-line.ts';
import { isInvalidInput } from './commands/command.ts';
import { commandList, runCommand } from './commands/commands.ts';
import { versionLine } from './config/build-info.ts';
import type { CompletedConfig } from './config/config.ts';
import { type Environment, readEnvironment } from './config/environment.ts';
import { type LogFormat, type Options, parseOptions, SERVER } from './config/options.ts';
import { printableLines } from './observability/printable-text.ts';

/**
 * Exit codes: 0 after a graceful stop, 1 after a failure, 2 for an invalid command line or configuration, and these
 * codes when a second signal forces the stop.
 */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Time for which a second signal is ignored: a Ctrl-C may arrive twice, from the terminal and from npm. */
const SECOND_SIGNAL_AFTER_MS = 1000;

async function main(): Promise<number> {
  const environment = readEnvironment(process.env, hostname());
  const [command, ...args] = process.argv.slice(2);
  if (command === undefined || command.startsWith('-')) return serve(environment, process.argv.slice(2));
  return runCommand(command, {
    args,
    environment,
    workingDirectory: process.cwd(),
    input: process.stdin,
    print: (text) => void process.stdout.write(printableLines(text)),
    printError: (text) => void process.stderr.write(printableLines(text)),
  });
}

async function serve(environment: Environment, args: readonly string[]): Promise<number> {
  let config: CompletedConfig;
  let format: LogFormat;
  try {
    const options: Options = parseOptions(args);
    if (options.action === 'help') return print(`${usageText(SERVER)}\n\n${commandList()}`);
    if (options.action === 'version') return print(await versionLine());
    const { config: file, overrides } = options;
    format = options.logFormat;
    const { completeConfig } = await import('./config/config.ts');
    config = await completeConfig({ config: file, overrides, environment, workingDirectory: process.cwd() });
  } catch (error) {
    if (!isInvalidInput(error)) throw error;
    return fail(error.message, 2);
  }
  // Commands and errors of the command line do not load the server.
  const [{ createLogger }, { run }] = await Promise.all([
    import('./observability/logger.ts'),
    import('./server.ts'),
  ]);
  const log = createLogger({ ...config.log, format });
  const stop = new AbortController();
  stopOnSignals(stop);
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'uncaught error, exiting');
    exit(1);
  });
  try {
    await run(config, stop.signal, log);
    return 0;
  } catch (error) {
    if (error instanceof StartupError) return fail(error.message, 1);
    log.fatal({ err: error }, 'the server failed');
    return 1;
  }
}

function stopOnSignals(stop: AbortController): void {
  let first: number | undefined;
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (first === undefined) {
        first = performance.now();
        stop.abort(new Error(`received ${signal}`));
      } else if (performance.now() - first >= SECOND_SIGNAL_AFTER_MS) {
        exit(code);
      }
    });
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function fail(message: string, code: number): number {
  for (const line of message.split('\n')) process.stderr.write(printableLines(`ks-apiserver: ${line}\n`));
  return code;
}

function exit(code: number): never {
  process.exit(code);
}

exit(await main());
