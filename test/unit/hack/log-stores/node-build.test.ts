// Tests of the build of OpenSearch nodes.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildNode } from '../../../../hack/log-stores/node-build.ts';
import { OPENSEARCH_2 } from '../../../../hack/log-stores/node-kinds.ts';
import { rejection } from '../../../support/rejection.ts';
import { machineWith } from '../../../support/scratch.ts';

describe('the build of a node', () => {
  it('reports the error of Maven, and leaves nothing', async () => {
    await using machine = await machineWith({
      java: `echo 'openjdk version "17.0.15"' >&2`,
      mvn: 'echo "[INFO] Downloaded from somewhere"; echo "[ERROR] Could not resolve dependencies"; exit 1',
    });
    const { path, env } = machine;
    const { signal } = new AbortController();
    const { message } = await rejection(buildNode(OPENSEARCH_2, { env, signal, progress: () => undefined }));
    expect(message).to.match(/^fetching OpenSearch 2 failed .*mvn/);
    expect(message).to.include('[ERROR] Could not resolve dependencies').and.not.include('Downloaded');
    expect(await readdir(join(path, 'cache', 'ks-apiserver'))).to.deep.equal([]);
  });
});
