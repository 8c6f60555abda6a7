// Driver for the Go program hack/clients/informer, which runs client-go informers.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { buildClients } from '../../../hack/clients/build.ts';

export const INFORMERS = ['dynamic', 'metadata', 'selector'] as const;
export type InformerName = (typeof INFORMERS)[number];

/** Name to resourceVersion. */
export type Versions = Readonly<Record<string, string>>;

interface Line {
  readonly informer: InformerName;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'SYNCED' | 'STORE';
  readonly name?: string;
  readonly resourceVersion?: string;
  readonly objects?: Versions;
}

interface InformerProgramOptions {
  readonly kubeconfig: string;
  readonly resource: string;
  readonly selector: string;
  readonly signal: AbortSignal;
}

export class InformerProgram {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** The accumulated events of the handlers, which must equal the stores. */
  readonly #accumulated: Record<InformerName, Map<string, string>> = {
    dynamic: new Map(),
    metadata: new Map(),
    selector: new Map(),
  };
  readonly #stores = new Map<InformerName, Versions>();
  #changed = Promise.withResolvers<void>();
  #ended = false;
  /** Log of client-go. */
  log = '';

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.log += text;
    });
    createInterface({ input: child.stdout })
      .on('line', (line) => this.#take(JSON.parse(line) as Line))
      .on('close', () => {
        this.#ended = true;
        this.#wake();
      });
  }

  static async start({
    kubeconfig,
    resource,
    selector,
    signal,
  }: InformerProgramOptions): Promise<InformerProgram> {
    const progress = (): void => undefined;
    const { informer } = await buildClients({ env: process.env, signal, progress });
    const args = ['--kubeconfig', kubeconfig, '--resource', resource, '--selector', selector];
    const child = spawn(informer, args, { stdio: 'pipe', signal });
    child.on('error', () => undefined);
    return new InformerProgram(child);
  }

  /** Resolves when the accumulated events of this informer equal `expected`, within the timeout of the test. */
  async reaches(informer: InformerName, expected: Versions): Promise<void> {
    while (!same(this.#accumulated[informer], expected)) await this.#change();
  }

  /** The current contents of the informer's store. */
  async store(informer: InformerName): Promise<Versions> {
    this.#stores.clear();
    this.#child.stdin.write('store\n');
    for (;;) {
      const found = this.#stores.get(informer);
      if (found !== undefined) return found;
      await this.#change();
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exit;
  }

  async #change(): Promise<void> {
    if (this.#ended) throw new Error(`the informer program has ended: ${this.log}`);
    await this.#changed.promise;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #take({ informer, type, name, resourceVersion, objects }: Line): void {
    if (type === 'STORE') this.#stores.set(informer, objects ?? {});
    else if (type === 'DELETED') this.#accumulated[informer].delete(name ?? '');
    else if (type !== 'SYNCED') this.#accumulated[informer].set(name ?? '', resourceVersion ?? '');
    this.#wake();
  }
}

function same(reported: ReadonlyMap<string, string>, expected: Versions): boolean {
  const names = Object.keys(expected);
  return names.length === reported.size && names.every((name) => reported.get(name) === expected[name]);
}
