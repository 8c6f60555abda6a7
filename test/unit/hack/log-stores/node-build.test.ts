// Tests of the build of OpenSearch nodes.
import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildNode, verifyJars } from '../../../../hack/log-stores/node-build.ts';
import { OPENSEARCH_2 } from '../../../../hack/log-stores/node-kinds.ts';
import { rejection } from '../../../support/rejection.ts';
import { machineWith, scratchFolder } from '../../../support/scratch.ts';

function sum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('the downloads of Maven', () => {
  it('must match the list of jars exactly', async () => {
    await using scratch = await scratchFolder();
    const node = join(scratch.path, 'node');
    const list = join(scratch.path, 'jars.sha256');
    await mkdir(join(node, 'lib'), { recursive: true });
    await writeFile(join(node, 'a.jar'), 'a');
    await writeFile(join(node, 'lib/b.jar'), 'b');
    await writeFile(list, `${sum('a')}  a.jar\n${sum('b')}  lib/b.jar\n`);
    expect(await verifyJars(node, list)).to.deep.equal(['a.jar', 'lib/b.jar']);

    await writeFile(join(node, 'lib/b.jar'), 'changed');
    await writeFile(join(node, 'lib/c.jar'), 'c');
    await writeFile(list, `${sum('a')}  a.jar\n${sum('b')}  lib/b.jar\n${sum('d')}  d.jar\n`);
    const { message } = await rejection(verifyJars(node, list));
    expect(message).to.match(/: b\.jar has another checksum, c\.jar is not listed, d\.jar is missing$/);
  });
});

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
