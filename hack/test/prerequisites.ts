import { buildClients } from '../clients/build.ts';
import { findBinaries } from '../control-plane/binaries.ts';
import { printProgress } from '../control-plane/progress.ts';
import type { StageContext } from './stage.ts';

/**
 * The control plane and the Go clients, built when they are missing. Begun once, whoever asks first; the tests look
 * them up again, in the cache.
 */
export class Prerequisites {
  #building: Promise<void> | undefined;

  ready({ env, signal }: Pick<StageContext, 'env' | 'signal'>): Promise<void> {
    this.#building ??= this.#build({ env, signal });
    return this.#building;
  }

  async #build({ env, signal }: Pick<StageContext, 'env' | 'signal'>): Promise<void> {
    const progress = printProgress(process.stdout);
    await findBinaries({ env, signal, progress });
    await buildClients({ env, signal, progress });
  }
}
