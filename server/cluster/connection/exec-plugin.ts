// One run of a credential plugin: a program that a kubeconfig names, and that prints an ExecCredential
// (client.authentication.k8s.io). What it prints is never repeated, for that is a credential.
import { type ChildProcess, spawn } from 'node:child_process';
import { elided } from '../../../apis/reading/elided-text.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { array, record, text } from '../../../apis/reading/unknown-value.ts';

export interface PluginOptions {
  /** A run that takes longer is ended. */
  readonly timeoutMs: number;
  /** What has not ended so long after it was asked to is killed. */
  readonly graceMs: number;
  /** The environment of a run, to which the kubeconfig adds. */
  readonly inherited: NodeJS.ProcessEnv;
  /** Whether there is a terminal with a person who can be asked. */
  readonly terminal: boolean;
}

const MAX_PRINTED = 1 << 20;
const MAX_COMPLAINT = 1000;

/** What it is called in messages to people. `exec`: its entry in the kubeconfig. */
export function pluginName(exec: unknown): string {
  return `the exec plugin ${JSON.stringify(text(record(exec)['command']))} of the kubeconfig`;
}

/**
 * What it printed. On a terminal it may ask the person there, and ends with us by Ctrl-C; else it has a process group of
 * its own, so that whatever it has started ends with it. Throws what went wrong, in words.
 */
export function runPlugin(exec: unknown, options: PluginOptions): Promise<string> {
  const { command, args, env, apiVersion, interactiveMode, installHint } = record(exec);
  const interactive = options.terminal && interactiveMode !== 'Never';
  if (text(command) === '')
    return Promise.reject(new Error(`${pluginName(exec)} cannot be run: it has no command`));
  if (interactiveMode === 'Always' && !interactive) {
    return Promise.reject(new Error(`${pluginName(exec)} needs a terminal`));
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
  #complaint = '';
  #fault: string | undefined;
  #killing: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, options: RunOptions, leadsGroup: boolean) {
    const { timeoutMs, name } = options;
    this.#child = child;
    this.#options = options;
    this.#leadsGroup = leadsGroup;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const late = setTimeout(
      () => this.#end(`gave no credentials within ${timeoutMs / 1000} s and was ended`),
      timeoutMs,
    );
    process.on('exit', this.#kill);
    child.stdout?.setEncoding('utf8').on('data', (part: string) => this.#take(part));
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      this.#complaint = elided(this.#complaint + part, MAX_COMPLAINT);
    });
    child.once('error', (error) => {
      this.#fault ??= `cannot be run: ${messageOf(error)}${lines(options.hint)}`;
    });
    child.once('close', (code, signal) => {
      clearTimeout(late);
      clearTimeout(this.#killing);
      process.off('exit', this.#kill);
      if (code !== 0) this.#fault ??= `ended with ${signal ?? `code ${code}`}${lines(this.#complaint)}`;
      if (this.#fault === undefined) resolve(this.#output);
      else reject(new Error(`${name} ${this.#fault}`));
    });
    this.printed = promise;
  }

  #take(part: string): void {
    this.#output += part;
    if (this.#output.length > MAX_PRINTED) this.#end('printed more than any credential and was ended');
  }

  #end(fault: string): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    this.#signal('SIGTERM');
    this.#killing = setTimeout(this.#kill, this.#options.graceMs);
  }

  readonly #kill = (): void => {
    this.#signal('SIGKILL');
    // What has left the group may hold them open.
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
      // Nobody is left.
    }
  }
}

function lines(said: string): string {
  return said.trim() === '' ? '' : `: ${elided(said.trim(), MAX_COMPLAINT)}`;
}
