// Runs an exec credential plugin from the kubeconfig (client.authentication.k8s.io) once. The output of the plugin
// is never logged, because the output contains a credential.
import { type ChildProcess, spawn } from 'node:child_process';
import { elided } from '../../../apis/reading/elided-text.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { array, record, text } from '../../../apis/reading/unknown-value.ts';

export interface PluginOptions {
  /** Time limit of a run, in ms. */
  readonly timeoutMs: number;
  /** Time between SIGTERM and SIGKILL, in ms. */
  readonly graceMs: number;
  /** Environment variables of a run; those of the kubeconfig are added. */
  readonly inherited: NodeJS.ProcessEnv;
  /** True if the plugin can prompt a person on a terminal. */
  readonly terminal: boolean;
}

const MAX_OUTPUT = 1 << 20;
const MAX_STDERR = 1000;

/** Returns the name of a plugin for messages. `exec`: the entry of the plugin in the kubeconfig. */
export function pluginName(exec: unknown): string {
  return `the exec plugin ${JSON.stringify(text(record(exec)['command']))} of the kubeconfig`;
}

/**
 * Runs the plugin and returns its output. On a terminal the plugin can prompt, and Ctrl-C stops it together with this
 * process. Without a terminal the plugin has its own process group, so that its child processes are stopped with it.
 * Throws an Error with the reason of a failure.
 */
export function runPlugin(exec: unknown, options: PluginOptions): Promise<string> {
  const { command, args, env, apiVersion, interactiveMode, installHint } = record(exec);
  const interactive = options.terminal && interactiveMode !== 'Never';
  if (text(command) === '')
    return Promise.reject(new Error(`${pluginName(exec)} cannot be run: it has no command`));
  if (interactiveMode === 'Always' && !interactive) {
    return Promise.reject(new Error(`${pluginName(exec)} requires a terminal`));
  }
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive } };
  const added = array(env).map((each) => [text(record(each)['name']), text(record(each)['value'])]);
  const child = spawn(text(command), array(args).map(String), {
    env: {
      ...options.inherited,
      ...Object.fromEntries(added),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    },
    detached: !interactive,
    stdio: interactive ? ['inherit', 'pipe', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  });
  return new PluginRun(child, { ...options, name: pluginName(exec), hint: text(installHint) }, !interactive)
    .printed;
}

interface RunOptions extends PluginOptions {
  readonly name: string;
  readonly hint: string;
}

class PluginRun {
  readonly printed: Promise<string>;
  readonly #child: ChildProcess;
  readonly #options: RunOptions;
  readonly #leadsGroup: boolean;
  #output = '';
  #stderr = '';
  #failure: string | undefined;
  #killing: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, options: RunOptions, leadsGroup: boolean) {
    const { timeoutMs, name } = options;
    this.#child = child;
    this.#options = options;
    this.#leadsGroup = leadsGroup;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const late = setTimeout(
      () => this.#end(`returned no credentials within ${timeoutMs / 1000} s and was stopped`),
      timeoutMs,
    );
    process.on('exit', this.#kill);
    child.stdout?.setEncoding('utf8').on('data', (part: string) => this.#take(part));
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      this.#stderr = elided(this.#stderr + part, MAX_STDERR);
    });
    child.once('error', (error) => {
      this.#failure ??= `cannot be run: ${messageOf(error)}${lines(options.hint)}`;
    });
    child.once('close', (code, signal) => {
      clearTimeout(late);
      clearTimeout(this.#killing);
      process.off('exit', this.#kill);
      if (code !== 0) this.#failure ??= `ended with ${signal ?? `code ${code}`}${lines(this.#stderr)}`;
      if (this.#failure === undefined) resolve(this.#output);
      else reject(new Error(`${name} ${this.#failure}`));
    });
    this.printed = promise;
  }

  #take(part: string): void {
    this.#output += part;
    if (this.#output.length > MAX_OUTPUT) this.#end('printed more than 1 MiB and was stopped');
  }

  #end(failure: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#signal('SIGTERM');
    this.#killing = setTimeout(this.#kill, this.#options.graceMs);
  }

  readonly #kill = (): void => {
    this.#signal('SIGKILL');
    // A process outside of the group can keep the pipes open.
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  };

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (this.#leadsGroup) process.kill(-pid, signal);
      else this.#child.kill(signal);
    } catch {
      // The process has ended.
    }
  }
}

function lines(text: string): string {
  return text.trim() === '' ? '' : `: ${elided(text.trim(), MAX_STDERR)}`;
}
