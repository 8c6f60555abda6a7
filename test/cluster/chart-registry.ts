// A registry that serves the chart, and the helm of an operator, for the commands of documents.
import { join } from 'node:path';
import { provideGoProgram } from '../../hack/artifacts/go-programs.ts';
import { startRegistry } from '../../hack/helm/registry.ts';
import { freePort } from '../../hack/system/ports.ts';
import { script } from '../support/scratch.ts';
import { blockWith, linesOf } from './document.ts';
import type { InstallationFolder } from './installation-folder.ts';

const TIMEOUT_MS = 180_000;

export class ChartRegistry implements AsyncDisposable {
  readonly #repository: string;
  readonly #folder: InstallationFolder;
  readonly #registry: AsyncDisposable;

  private constructor(repository: string, folder: InstallationFolder, registry: AsyncDisposable) {
    this.#repository = repository;
    this.#folder = folder;
    this.#registry = registry;
  }

  /** Commands that run in the folder find helm. */
  static async start(folder: InstallationFolder): Promise<ChartRegistry> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const port = await freePort();
    const helm = await provideGoProgram('helm', { env: process.env, signal, progress: () => undefined });
    const registry = await startRegistry({ dir: join(folder.path, 'registry'), port, signal });
    // A home of its own, and the registry has no certificate.
    const insecure = `case "$*" in *oci://*) set -- "$@" --plain-http;; esac`;
    await script(join(folder.path, 'bin/helm'), `${insecure}\nHOME='${folder.path}' exec '${helm}' "$@"`);
    return new ChartRegistry(`127.0.0.1:${port}`, folder, registry);
  }

  /** Packages and pushes the chart (CONTRIBUTING.md, "Release"). */
  async publish(): Promise<string> {
    const release = await blockWith('CONTRIBUTING.md', 'Release', 'helm push');
    const commands = this.here(linesOf(release, 'helm '));
    const text = `cd '${this.#folder.path}/ks-apiserver'\n${commands} 2>&1`;
    return this.#folder.run(text, { inClone: true });
  }

  /** The text of a document with this registry. The cluster has the image already. */
  here(text: string): string {
    return text
      .replaceAll('oci://REGISTRY', `oci://${this.#repository}`)
      .replaceAll('REGISTRY/ks-apiserver', 'ks-apiserver');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#registry[Symbol.asyncDispose]();
  }
}
