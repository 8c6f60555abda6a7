// Builds the programs that the test suites need.
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { DEFINED_BY, provideDefinitions } from '../artifacts/custom-resource-definitions.ts';
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { buildClients, buildJavaClients, PYTHON_CLIENTS } from '../clients/build.ts';
import { API, findPrograms, SIMULATION } from '../control-plane/programs.ts';
import { missingForDirectory } from '../directory/slapd.ts';
import { provideApache } from '../identity/apache.ts';
import { provideKeycloak } from '../identity/keycloak.ts';
import { missingForOpenSearch } from '../log-stores/missing-prerequisite.ts';
import { buildNode } from '../log-stores/node-build.ts';
import { NODE_KINDS } from '../log-stores/node-kinds.ts';
import { buildVictoriaLogs } from '../log-stores/victorialogs.ts';
import { findPython } from '../python/environment.ts';
import type { StageContext } from './stage.ts';

type BuildContext = Pick<StageContext, 'env' | 'signal' | 'progress'>;

/** Builds the control plane, the Go programs and the log stores if the cache lacks them; once per run. */
export class Prerequisites {
  #building: Promise<void> | undefined;

  ready(context: BuildContext): Promise<void> {
    this.#building ??= this.#build(context);
    return this.#building;
  }

  async #build({ env, signal, progress }: BuildContext): Promise<void> {
    await findPrograms([...API, ...SIMULATION, 'kubeControllerManager'], { env, signal, progress });
    await buildClients({ env, signal, progress });
    // Without Python, its suites report that they are skipped.
    await findPython(PYTHON_CLIENTS, { env, signal, progress });
    const programs = ['kubelogin', 'stern', 'dex', 'oauth2-proxy'] as const;
    for (const build of [
      provideApache,
      provideKeycloak,
      buildJavaClients,
      ...programs.map((name) => (options: BuildOptions) => provideGoProgram(name, options)),
    ]) {
      await build({ env, signal, progress }).catch((error: unknown) => {
        signal.throwIfAborted();
        if (env['CI'] === 'true') throw error;
        // These downloads are the most likely to fail; their suites then report that they are skipped, and why.
        progress(messageOf(error));
      });
    }
    await provideGoProgram('collector', { env, signal, progress });
    await provideGoProgram('promtool', { env, signal, progress });
    await provideGoProgram('helm', { env, signal, progress });
    for (const project of DEFINED_BY) await provideDefinitions(project, { env, signal, progress });
    await buildVictoriaLogs({ env, signal, progress });
    const lacking = await missingForDirectory({ env, signal, progress });
    // Otherwise the suites that need it report that they are skipped, and why.
    if (lacking !== undefined && env['CI'] === 'true') throw new Error(lacking);
    for (const kind of NODE_KINDS) {
      const missing = await missingForOpenSearch(env, kind, progress);
      if (missing === undefined) await buildNode(kind, { env, signal, progress });
      else if (env['CI'] === 'true') throw new Error(missing);
      // Otherwise the suites that need it report that they are skipped, and why.
    }
  }
}
