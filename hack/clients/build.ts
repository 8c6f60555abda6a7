// Builds the Go programs in this folder: client-go informers and the load generator.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** Paths of the built programs. */
export interface Clients {
  readonly load: string;
  readonly informer: string;
}

/** Builds the programs if the cache lacks them, in about a minute on 2 cores. */
export async function buildClients(options: BuildOptions): Promise<Clients> {
  const module = { title: 'Go clients', name: 'clients', module: import.meta.dirname };
  const folder = await provideGo({ ...module, packages: ['./load', './informer'] }, options);
  return { load: join(folder, 'load'), informer: join(folder, 'informer') };
}
