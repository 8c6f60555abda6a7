import { join } from 'node:path';
import { expect } from 'chai';
import { findBuildTools, findJava } from '../../../../hack/log-stores/java.ts';
import { requireJava } from '../../../../hack/log-stores/require-java.ts';
import { rejection, scratchFolder, script } from '../control-plane/scratch.ts';

const { signal } = new AbortController();

/** A machine with these programs and no others, besides /bin/sh. */
async function machine(
  programs: Readonly<Record<string, string>>,
  use: (env: NodeJS.ProcessEnv, root: string) => Promise<void>,
): Promise<void> {
  await using scratch = await scratchFolder();
  for (const [name, text] of Object.entries(programs)) await script(join(scratch.path, name), text);
  await use(
    { PATH: scratch.path, HOME: scratch.path, XDG_CACHE_HOME: join(scratch.path, 'cache') },
    scratch.path,
  );
}

function java(version: string): string {
  return `echo 'openjdk version "${version}" 2025-04-15' >&2`;
}

describe('the Java that OpenSearch runs on', () => {
  it('is taken from PATH, or from JAVA_HOME where that is set', async () => {
    await machine({ java: java('17.0.15'), 'jdk/bin/java': java('21.0.2') }, async (env, root) => {
      expect(await findJava({ env, signal })).to.equal(join(root, 'java'));
      const chosen = { ...env, JAVA_HOME: join(root, 'jdk') };
      expect(await findJava({ env: chosen, signal })).to.equal(join(root, 'jdk/bin/java'));
    });
  });

  for (const [what, programs, says] of [
    ['missing', {}, /java is not in PATH/],
    ['broken', { java: 'echo "cannot open shared object"; echo "more" >&2; exit 127' }, /does not run/],
    ['too old', { java: java('11.0.2') }, /is Java 11/],
    ['older than its own counting', { java: java('1.8.0_352') }, /is Java 1:/],
    ['too new', { java: java('25.0.1') }, /is Java 25/],
  ] as const) {
    it(`is asked for in one line where it is ${what}`, async () => {
      await machine(programs, async (env) => {
        const { message } = await rejection(findJava({ env, signal }));
        expect(message)
          .to.match(says)
          .and.match(/^Java 17 .*apt-get install default-jdk-headless maven/);
        expect(message).not.to.include('\n');
      });
    });
  }

  it('comes with a compiler and Maven when OpenSearch is to be built', async () => {
    await machine({ java: java('17.0.15'), javac: '', mvn: '' }, async (env, root) => {
      expect(await findBuildTools({ env, signal })).to.deep.equal({
        javac: join(root, 'javac'),
        maven: join(root, 'mvn'),
      });
    });
    await machine({ java: java('17.0.15'), javac: '' }, async (env) => {
      const { message } = await rejection(findBuildTools({ env, signal }));
      expect(message).to.match(/^mvn is needed once to build OpenSearch and is not in PATH: install/);
    });
  });
});

describe('a suite that needs OpenSearch', () => {
  async function begin(env: NodeJS.ProcessEnv): Promise<{ skipped: boolean; lines: string[] }> {
    const lines: string[] = [];
    let skipped = false;
    const skip = (): never => {
      skipped = true;
      throw new Error('skipped');
    };
    try {
      await requireJava({ skip }, env, (line) => lines.push(line));
    } catch (error) {
      if (!skipped) throw error;
    }
    return { skipped, lines };
  }

  it('is skipped with one line where Java or Maven is missing', async () => {
    await machine({}, async (env) => {
      const { skipped, lines } = await begin(env);
      expect(skipped).to.equal(true);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(/^skipped: Java 17 is needed to run OpenSearch/);
    });
    await machine({ java: java('17.0.15'), javac: '' }, async (env) => {
      expect((await begin(env)).lines[0]).to.match(/^skipped: mvn is needed/);
    });
  });

  it('fails there with CI=true', async () => {
    await machine({}, async (env) => {
      const { message } = await rejection(begin({ ...env, CI: 'true' }));
      expect(message).to.match(/^Java 17 is needed/);
    });
  });

  it('runs where everything is there', async () => {
    await machine({ java: java('17.0.15'), javac: '', mvn: '' }, async (env) => {
      expect(await begin({ ...env, CI: 'true' })).to.deep.equal({ skipped: false, lines: [] });
    });
  });
});
