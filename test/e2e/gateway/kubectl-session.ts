// Session of kubectl commands with one token, in its own namespace and folder, against kube-apiserver or the gateway.
// The outputs of both servers are equal except for the values that `comparable` replaces.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Output } from '../platform.ts';
import type { GatewayPlatform, Side } from './gateway-platform.ts';

export interface Command {
  /** Arguments, with single quotes as in a shell. `$NS`, `$DIR`, `$POD`: see `Session`. */
  readonly args: string;
  /** kubectl is stopped after this text; for commands that do not end. */
  readonly until?: string;
  /** kubectl runs with a pseudoterminal. */
  readonly terminal?: boolean;
  /** Uses the local port that kubectl listens on. Its result is the standard output. */
  readonly port?: (port: number) => Promise<string>;
  /** Order of the output lines is random. */
  readonly unordered?: boolean;
  /** Expected exit code; 0 by default. */
  readonly code?: number;
}

const SUFFIX: Record<Side, string> = { direct: 'one', gateway: 'two' };
const LISTENING = /127\.0\.0\.1:(\d+)/;
const TIMEOUT_MS = 60_000;

export class Session {
  readonly #gateway: GatewayPlatform;
  readonly #flags: readonly string[];
  readonly #variables: Readonly<Record<string, string>>;

  private constructor(
    gateway: GatewayPlatform,
    flags: readonly string[],
    variables: Readonly<Record<string, string>>,
  ) {
    this.#gateway = gateway;
    this.#flags = flags;
    this.#variables = variables;
  }

  /** Creates the namespace `$NS` and the folder `$DIR` with these files, in which variables are replaced. `$POD`: a running pod. */
  static async start(
    gateway: GatewayPlatform,
    side: Side,
    token: string,
    name: string,
    files: Readonly<Record<string, string>>,
  ): Promise<Session> {
    const { platform } = gateway;
    const namespace = `${name}-${SUFFIX[side]}`;
    const dir = join(platform.environment()['HOME'] ?? '', namespace);
    const variables = { NS: namespace, DIR: dir, POD: gateway.pod.name };
    const session = new Session(
      gateway,
      [...gateway.flags(side, token), '--namespace', namespace],
      variables,
    );
    await mkdir(dir);
    for (const [file, content] of Object.entries(files)) {
      await writeFile(join(dir, file), session.#replaced(content));
    }
    await platform.succeeding('create namespace', namespace);
    await platform.succeeding('wait --for=create serviceaccount/default -n', namespace);
    return session;
  }

  get namespace(): string {
    return this.#variables['NS'] ?? '';
  }

  async run(command: Command): Promise<Output> {
    const child = this.#spawn(command);
    const exit = once(child, 'close');
    let [stdout, stderr] = ['', ''];
    let used: Promise<string> | undefined;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const port = LISTENING.exec(stdout)?.[1];
      if (port !== undefined) used ??= command.port?.(Number(port)).finally(() => child.kill());
      if (endOfLine(stdout, command.until) > 0) child.kill();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    await exit;
    if (used !== undefined) return { code: 0, stdout: await used, stderr };
    const end = endOfLine(stdout, command.until);
    if (child.killed && end > 0) return { code: 0, stdout: stdout.slice(0, end), stderr };
    return { code: child.exitCode ?? -1, stdout, stderr };
  }

  #spawn({ args, terminal }: Command): ChildProcessWithoutNullStreams {
    const { platform } = this.#gateway;
    const { kubectl } = platform.controlPlane;
    const all = [...this.#flags, ...words(args).map((word) => this.#replaced(word))];
    const env = { ...platform.environment(), KUBE_EDITOR: 'sed -i s/blue/green/' };
    const options = { env, signal: platform.signal, timeout: TIMEOUT_MS };
    if (!terminal) return spawn(kubectl, all, options);
    const line = [kubectl, ...all].map((word) => `'${word}'`).join(' ');
    return spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], options);
  }

  #replaced(text: string): string {
    return text.replaceAll(/\$(NS|DIR|POD)/g, (_, name: string) => this.#variables[name] ?? '');
  }
}

/** The end of the first whole line with a text; 0 without one. */
function endOfLine(output: string, text: string | undefined): number {
  const at = text === undefined ? -1 : output.indexOf(text);
  return at < 0 ? 0 : output.indexOf('\n', at) + 1;
}

function words(line: string): string[] {
  return (line.match(/(?:'[^']*'|\S)+/g) ?? []).map((word) => word.replaceAll("'", ''));
}

/** Values that differ between two runs of the same command. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/-(?:one|two)\b/g, ''],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, 'UID'],
  [/(resourceVersion"?: ?)"\d+"/g, '$1RESOURCE-VERSION'],
  [/(Resource Version: *)\d+/g, '$1RESOURCE-VERSION'],
  [/("continue":)"[^"]+"/g, '$1"CONTINUE"'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, 'TIME'],
  // Error output of tar in a pod, which KWOK may drop.
  [/^tar: .*\r?\n?/gm, ''],
  // Log lines of client-go; a terminal ends lines with CR LF.
  [/^[IWE]\d{4} .*\r?\n/gm, ''],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/\b\d+[smhd](?:\d+[smhd])?\b|<invalid>/g, 'AGE'],
  // ReplicaSets, pods and events of the same template.
  [/-[\da-z]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-POD'],
  [/-debugger-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-DEBUGGER'],
  [/\.[\da-f]{16}\b/g, '.EVENT'],
  [/\bhttps:\/\/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/\b10\.\d+\.\d+\.\d+/g, 'IP'],
  [/^Waiting for .*\r?\n/gm, ''],
  [/ {2,}/g, '  '],
];

/** Returns the output without the values that differ between two runs of the same command. */
export function comparable({ code, stdout, stderr }: Output, unordered = false): Output {
  return { code, stdout: replaced(stdout, unordered), stderr: replaced(stderr, unordered) };
}

function replaced(text: string, unordered: boolean): string {
  const result = REPLACED.reduce((before, [pattern, by]) => before.replaceAll(pattern, by), text);
  return unordered ? result.split('\n').sort().join('\n') : result;
}
