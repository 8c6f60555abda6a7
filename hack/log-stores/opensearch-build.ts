import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, cacheFolder, exists, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';
import { withElapsed } from '../control-plane/progress.ts';
import { findBuildTools } from './java.ts';

const TITLE = 'OpenSearch';
const SOURCES = join(import.meta.dirname, 'opensearch');
const MAIN = 'OpenSearchNode.java';
const JARS = 'jars.sha256';
const COPY = ['-B', '-C', 'dependency:copy-dependencies', '-DincludeScope=runtime'];
const COMPILE = ['--release', '17', '-proc:none'];

/** The folder with `lib` and `classes`, made when the cache has none of these sources; half a minute, most of it fetching. */
export async function buildOpenSearch(options: BuildOptions): Promise<string> {
  return provide({ title: TITLE, name: await nameOfResult(), make }, options);
}

/** Whether a start needs neither Maven nor a compiler. */
export async function isOpenSearchBuilt(env: NodeJS.ProcessEnv): Promise<boolean> {
  return exists(join(cacheFolder(env), await nameOfResult()));
}

async function nameOfResult(): Promise<string> {
  const files = ['pom.xml', JARS, MAIN];
  return `opensearch-${await hashOfInputs({ folder: SOURCES, files, settings: [COPY, COMPILE] })}`;
}

async function make(staging: string, options: BuildOptions): Promise<void> {
  const { env, signal, progress } = options;
  const { javac, maven } = await findBuildTools({ env, signal });
  const lib = join(staging, 'lib');
  progress(`${TITLE}: fetching it with Maven (once; about 50 MB)`);
  let fetched = 0;
  await withElapsed(
    progress,
    () => `${TITLE}: ${fetched} files fetched`,
    async () => {
      await compile({
        command: maven,
        args: [...COPY, `-DoutputDirectory=${lib}`],
        cwd: SOURCES,
        env,
        signal,
        failure: `fetching ${TITLE} failed`,
        alone: `(cd ${SOURCES} && mvn dependency:resolve)`,
        line: (line) => {
          if (line.includes('Downloaded from')) fetched++;
          return !line.startsWith('[ERROR]');
        },
      });
      await verifyJars(lib);
      await compile({
        command: javac,
        args: [...COMPILE, '-cp', join(lib, '*'), '-d', join(staging, 'classes'), MAIN],
        cwd: SOURCES,
        env,
        signal,
        failure: `building ${TITLE} failed`,
        alone: `javac -cp 'FOLDER_OF_JARS/*' ${join(SOURCES, MAIN)}`,
        line: () => false,
      });
    },
  );
}

/** Maven has no lock file: what it brought must be exactly what jars.sha256 (as sha256sum writes it) names. */
export async function verifyJars(lib: string, list = join(SOURCES, JARS)): Promise<void> {
  const expected = new Map(
    (await readFile(list, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const found = await readdir(lib);
  const wrong = [...expected.keys()]
    .filter((name) => !found.includes(name))
    .map((name) => `${name} is missing`);
  for (const name of found) {
    const sum = createHash('sha256')
      .update(await readFile(join(lib, name)))
      .digest('hex');
    if (!expected.has(name)) wrong.push(`${name} is not named`);
    else if (expected.get(name) !== sum) wrong.push(`${name} is another one`);
  }
  if (wrong.length > 0) {
    throw new Error(`what Maven brought is not what ${list} names: ${wrong.sort().join(', ')}`);
  }
}
