// Tests of the lookup of Java and Maven.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { provideJava } from '../../../../hack/java/java.ts';
import {
  ELASTICSEARCH_8,
  type NodeKind,
  OPENSEARCH_2,
  OPENSEARCH_3,
} from '../../../../hack/log-stores/node-kinds.ts';
import { requireJava } from '../../../support/logging/require-java.ts';
import { rejection } from '../../../support/rejection.ts';
import { machineWith, script } from '../../../support/scratch.ts';

const { signal } = new AbortController();

function java(version: string): string {
  return `echo 'openjdk version "${version}" 2025-04-15' >&2`;
}

describe('the Java that a node runs on', () => {
  const progress = (): void => undefined;

  function provided(kind: NodeKind, env: NodeJS.ProcessEnv): Promise<string> {
    return provideJava(kind, { env, signal, progress });
  }

  it('is the one in JAVA_HOME or PATH that fits', async () => {
    await using machine = await machineWith({ java: java('17.0.15'), 'jdk/bin/java': java('21.0.2') });
    const { path, env } = machine;
    const [own, newer] = [join(path, 'java'), join(path, 'jdk/bin/java')];
    expect(await provided(OPENSEARCH_2, env)).to.equal(own);
    const both = { ...env, JAVA_HOME: join(path, 'jdk') };
    expect(await provided(OPENSEARCH_2, both)).to.equal(newer);
    expect(await provided(OPENSEARCH_3, both)).to.equal(newer);
    await script(newer, java('25.0.1'));
    expect(await provided(OPENSEARCH_2, both)).to.equal(own);
    expect(await provided(OPENSEARCH_3, both)).to.equal(newer);
    expect(await provided(ELASTICSEARCH_8, both)).to.equal(newer);
  });

  for (const [what, programs, says] of [
    ['missing', {}, /java is not in PATH/],
    ['broken', { java: 'echo "cannot open shared object"; echo "more" >&2; exit 127' }, /does not run/],
    ['too old', { java: java('11.0.2') }, /is Java 11:/],
    ['older than its own counting', { java: java('1.8.0_352') }, /is Java 1:/],
    ['too new', { java: java('25.0.1') }, /is Java 25:/],
  ] as const) {
    it(`is required in one line if it is ${what} and no matching one can be downloaded`, async () => {
      await using machine = await machineWith(programs);
      const { message } = await rejection(provided(OPENSEARCH_2, machine.env));
      expect(message).to.match(says).and.not.include('\n');
      expect(message).to.match(
        /^Java 17 to 23 is needed to run OpenSearch 2.*apt-get install default-jre-headless maven/,
      );
    });
  }

  /** A fake Python whose second call, pip, runs the script. */
  function python(pip: string): string {
    return `mkdir -p "$3/bin"; printf '#!/bin/sh\\n%s\\n' '${pip}' > "$3/bin/python"; chmod +x "$3/bin/python"`;
  }

  const TOOLS = { mkdir: 'exec /bin/mkdir "$@"', chmod: 'exec /bin/chmod "$@"' };

  it('is required in one line if the download fails, and nothing is left', async () => {
    const pip = 'echo "WARNING: again" >&2; echo "ERROR: no network" >&2; exit 1';
    await using machine = await machineWith({ ...TOOLS, java: java('17.0.15'), python3: python(pip) });
    const { message } = await rejection(provided(OPENSEARCH_3, machine.env));
    expect(message).to.match(
      /^Java 21 or newer is needed to run OpenSearch 3, and .*java is Java 17; downloading Java 25 with Python failed \(ERROR: no network\)\. Install one and set JAVA_HOME$/,
    );
    expect(await readdir(join(machine.path, 'cache', 'ks-apiserver'))).to.deep.equal([]);
    for (const programs of [{}, { python3: 'exit 1' }]) {
      await using broken = await machineWith({ java: java('17.0.15'), ...programs });
      const { message } = await rejection(provided(OPENSEARCH_3, broken.env));
      expect(message).to.match(/failed \(.*python3.*\)/);
      expect(message).not.to.include('\n');
    }
  });
});

describe('a suite that needs OpenSearch', () => {
  it('fails there with CI=true', async () => {
    await using machine = await machineWith({});
    const skip = (): never => expect.fail();
    const { message } = await rejection(requireJava({ skip }, { env: { ...machine.env, CI: 'true' } }));
    expect(message).to.match(/^mvn is needed/);
  });
});
