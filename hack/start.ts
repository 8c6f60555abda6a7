// `npm start`: runs the server with a local control plane, or for an existing cluster. hack/start/ contains the setup
// steps.
import { join } from 'node:path';
import { namesFor, readPlatform } from './generate/names.ts';
import { readLocalArguments, START } from './start/arguments.ts';
import { serverDaemon } from './start/development-server.ts';
import { startExisting } from './start/existing-cluster.ts';
import { startLocal } from './start/local-cluster.ts';
import { runUntilStopped } from './start/program.ts';
import { runScript } from './terminal/script.ts';

const root = join(import.meta.dirname, '..');

await runScript(START, async ({ values }) => {
  const given = readLocalArguments(values);
  const { kubeconfig } = values;
  const names = namesFor(await readPlatform(join(root, 'manifests/names.json')));
  return runUntilStopped((life, progress) => {
    if (kubeconfig !== undefined) {
      return startExisting({ root, names, kubeconfig, port: given.port, life, progress });
    }
    return startLocal({
      root,
      names,
      ...given,
      life,
      progress,
      startServer: (cp, server) =>
        cp.launch('ks-apiserver', (place, failed) => serverDaemon(root, server, place, failed)),
    });
  });
});
