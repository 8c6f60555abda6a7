// Tests of the stop of the server while kube-apiserver is unreachable.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { pino } from 'pino';
import { stringify } from 'yaml';
import { completeConfig } from '../../../server/config/config.ts';
import { readEnvironment } from '../../../server/config/environment.ts';
import { run } from '../../../server/server.ts';

describe('run', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'server-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  /**
   * A configuration with an unreachable cluster. Its readiness delay exceeds the timeout of the test, so a stop that
   * waits for it fails.
   */
  async function config() {
    const [kubeconfig, file] = [join(folder, 'kubeconfig'), join(folder, 'c.yaml')];
    const name = 'nowhere';
    await writeFile(
      kubeconfig,
      stringify({
        clusters: [{ name, cluster: { server: 'http://127.0.0.1:1' } }],
        users: [{ name, user: {} }],
        contexts: [{ name, context: { cluster: name, user: name } }],
        'current-context': name,
      }),
    );
    const listener = { address: '127.0.0.1', port: 0 };
    await writeFile(
      file,
      stringify({
        apiVersion: 'config.platform.io/v1alpha1',
        kind: 'APIServerConfiguration',
        listeners: { secure: listener, insecure: listener },
        kubernetes: { kubeconfig },
        shutdown: { readinessDelay: '1h' },
      }),
    );
    const environment = readEnvironment({}, 'host');
    return completeConfig({ config: file, overrides: [], environment, workingDirectory: folder });
  }

  it('opens no listener if it is stopped during the start', async () => {
    const logged: string[] = [];
    const log = pino(
      new Writable({
        write: (line, _, done) => {
          logged.push(String(line));
          done();
        },
      }),
    );
    const stop = new AbortController();
    const ended = run(await config(), stop.signal, log);
    stop.abort(new Error('enough'));
    await ended;
    expect(logged.join('')).to.include('"msg":"stopped"').and.not.to.include('listening');
  });
});
