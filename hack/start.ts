// `npm start`: runs the server with a local control plane, or for an existing cluster. hack/start/ contains the setup
// steps.
import { join } from 'node:path';
import { namesFor, readPlatform } from './generate/names.ts';
import { serverDaemon } from './start/development-server.ts';
import { startExisting } from './start/existing-cluster.ts';
import { startLocal } from './start/local-cluster.ts';
import { runProgram } from './start/program.ts';

const root = join(import.meta.dirname, '..');

process.exitCode = await runProgram('start', async ({ kubeconfig, nodes, port }, life, progress) => {
  const names = namesFor(await readPlatform(join(root, 'manifests/names.json')));
  if (kubeconfig !== undefined) return startExisting({ root, names, kubeconfig, port, life, progress });
  return startLocal({
    root,
    names,
    nodes,
    port,
    life,
    progress,
    startServer: (cp, server) =>
      cp.launch('ks-apiserver', (place, failed) => serverDaemon(root, server, place, failed)),
  });
});
