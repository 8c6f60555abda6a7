// Builds the Go programs in this folder: client-go informers, a controller and the load generator.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';
import type { PythonEnvironment } from '../python/environment.ts';

/** Paths of the built programs. */
export interface Clients {
  readonly load: string;
  readonly informer: string;
  readonly controller: string;
}

const MODULE = import.meta.dirname;

/** Environment of the programs in the folder `python`. */
export const PYTHON_CLIENTS: PythonEnvironment = {
  name: 'python-client',
  requirements: join(MODULE, 'python/requirements.txt'),
};

/**
 * Builds the programs if the cache lacks them: in about ten seconds after a build of the control plane, whose modules have the same
 * versions, so that Go has compiled most packages already.
 */
export async function buildClients(options: BuildOptions): Promise<Clients> {
  const module = { title: 'Go clients', name: 'clients', module: MODULE };
  const folder = await provideGo({ ...module, packages: ['./load', './informer', './controller'] }, options);
  return {
    load: join(folder, 'load'),
    informer: join(folder, 'informer'),
    controller: join(folder, 'controller'),
  };
}
