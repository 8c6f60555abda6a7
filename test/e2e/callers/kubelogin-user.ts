// A person at a machine with kubectl, kubelogin and the kubeconfig of this server. The browser of the desktop is a script that
// writes the address into a file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { KUBELOGIN } from '../../../apis/oauth/kubelogin-kubeconfig.ts';
import { record, text as stringOf } from '../../../apis/reading/unknown-value.ts';
import { script } from '../../support/scratch.ts';
import { until } from '../../support/until.ts';
import type { Output, Platform } from '../platform.ts';

export interface KubeloginProgram {
  readonly kubelogin: string;
  readonly platform: Platform;
}

interface Running {
  /** Standard error so far. */
  readonly printed: () => string;
  readonly output: Promise<Output>;
}

export class KubeloginUser {
  readonly home: string;
  readonly #platform: Platform;
  readonly #config: string;

  private constructor(platform: Platform, home: string) {
    this.#platform = platform;
    this.home = home;
    this.#config = join(home, '.kube/config');
  }

  /** `name`: of a folder. `kubeconfig`: YAML. */
  static async at(
    { kubelogin, platform }: KubeloginProgram,
    name: string,
    kubeconfig: string,
  ): Promise<KubeloginUser> {
    const home = `${await platform.write(name, '')}.home`;
    const user = new KubeloginUser(platform, home);
    await mkdir(dirname(user.#config), { recursive: true });
    await writeFile(user.#config, onFreePort(kubeconfig));
    await script(join(home, 'bin/xdg-open'), 'printf "%s\\n" "$1" >> "$HOME/visited"');
    // As krew installs it.
    await symlink(kubelogin, join(home, 'bin', KUBELOGIN));
    return user;
  }

  get environment(): NodeJS.ProcessEnv {
    const { kubectl } = this.#platform.controlPlane;
    return {
      HOME: this.home,
      KUBECONFIG: this.#config,
      PATH: [join(this.home, 'bin'), dirname(kubectl), process.env['PATH']].join(delimiter),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    };
  }

  async removeKubelogin(): Promise<void> {
    await rm(join(this.home, 'bin', KUBELOGIN));
  }

  kubectl(...args: string[]): Promise<Output> {
    return this.run(this.#platform.controlPlane.kubectl, args);
  }

  /** Runs a program on this machine. */
  run(program: string, args: readonly string[], input = ''): Promise<Output> {
    return this.start(program, args, input).output;
  }

  start(program: string, args: readonly string[], input = ''): Running {
    const child = spawn(program, args, { env: this.environment, signal: this.#platform.signal });
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined).end(input);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const output = Promise.all([once(child, 'close'), text(child.stdout)]).then(([[code], stdout]) => ({
      code: Number(code),
      stdout,
      stderr,
    }));
    return { printed: () => stderr, output };
  }

  /** The addresses that kubelogin has opened in the browser. */
  async visited(): Promise<string[]> {
    const lines = await readFile(join(this.home, 'visited'), 'utf8').catch(() => '');
    return lines.split('\n').filter((line) => line !== '');
  }

  /** Waits until kubelogin opens the browser for `running`, a kubectl, and returns the address. */
  async sentTo(running: Promise<Output>): Promise<string> {
    const before = (await this.visited()).length;
    let ended: Output | undefined;
    void running.then((output) => (ended = output));
    await until(async () => ended !== undefined || (await this.visited()).length > before);
    if (ended) throw new Error(`kubectl ended without a sign-in: ${ended.stderr}`);
    return (await this.visited())[before] ?? '';
  }

  /** Lets the cached access token expire. kubelogin does not verify the signature of a token in its cache. */
  async expire(): Promise<void> {
    const file = await this.#cachedTokens();
    const { id_token, ...others } = record(JSON.parse(await readFile(file, 'utf8')));
    const [header = '', claims = '', signature = ''] = stringOf(id_token).split('.');
    const expired = { ...record(JSON.parse(Buffer.from(claims, 'base64url').toString())), exp: 1 };
    const token = [header, Buffer.from(JSON.stringify(expired)).toString('base64url'), signature].join('.');
    await writeFile(file, JSON.stringify({ ...others, id_token: token }));
  }

  async #cachedTokens(): Promise<string> {
    const cache = join(this.home, '.kube/cache/oidc-login');
    const [file, ...others] = (await readdir(cache)).filter((name) => !name.endsWith('.lock'));
    if (file === undefined || others.length > 0) throw new Error(`not one entry in ${cache}`);
    return join(cache, file);
  }
}

/** Other programs on this machine may use the port 8000. */
function onFreePort(kubeconfig: string): string {
  const config = parse(kubeconfig) as { users: [{ user: { exec: { args: string[] } } }] };
  config.users[0].user.exec.args.push('--listen-address=127.0.0.1:0');
  return stringify(config);
}
