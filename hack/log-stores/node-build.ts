// Builds an OpenSearch or Elasticsearch node from Maven artifacts and two small Java classes.
import { createHash } from 'node:crypto';
import { cp, glob, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, cacheFolder, exists, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';
import { withElapsed } from '../terminal/progress.ts';
import { findMaven, provideJava } from './java.ts';
import { NODES, type NodeKind } from './node-kinds.ts';

const MAIN = 'Main.java';
const FETCH = ['-B', '-C', 'generate-resources'];
const COMPILER = 'org.eclipse.jdt.internal.compiler.batch.Main';
const COMPILE = ['-17', '-proc:none', '-nowarn'];

/** Returns the node's folder; builds it if the cache lacks it, in half a minute, most of it downloads. */
export async function buildNode(kind: NodeKind, options: BuildOptions): Promise<string> {
  const make = (staging: string): Promise<void> => makeNode(kind, staging, options);
  return provide({ title: kind.title, name: await nameOfResult(kind), make }, options);
}

/** Whether the cache has the node, so that a start needs no Maven. */
export async function isNodeBuilt(kind: NodeKind, env: NodeJS.ProcessEnv): Promise<boolean> {
  return exists(join(cacheFolder(env), await nameOfResult(kind)));
}

async function nameOfResult({ name }: NodeKind): Promise<string> {
  const files = ['pom.xml', MAIN, `${name}/*.*`, `${name}/modules/*/*.*`];
  return `${name}-${await hashOfInputs({ folder: NODES, files, settings: [FETCH, COMPILER, COMPILE] })}`;
}

async function makeNode(kind: NodeKind, staging: string, options: BuildOptions): Promise<void> {
  const { progress } = options;
  const { name, title } = kind;
  const sources = join(NODES, name);
  const maven = await findMaven(kind, options);
  const java = await provideJava(kind, options);
  progress(`${title}: downloading with Maven (once; about ${kind.megabytes} MB)`);
  let fetched = 0;
  let isFetched = false;
  await withElapsed(
    progress,
    () => `${title}: ${isFetched ? 'building' : `${fetched} files fetched`}`,
    async () => {
      const fetch = {
        command: maven,
        args: [...FETCH, `-Doutput=${staging}`],
        cwd: sources,
        failure: `fetching ${title} failed`,
        alone: `(cd ${sources} && mvn dependency:resolve)`,
        line: (line: string) => {
          if (line.includes('Downloaded from')) fetched++;
          return !line.startsWith('[ERROR]');
        },
      };
      await compile(fetch, options);
      isFetched = true;
      const jars = await verifyJars(staging, join(sources, 'jars.sha256'));
      const path = jars.filter((jar) => jar.startsWith('lib/')).map((jar) => join(staging, jar));
      const build = {
        command: java,
        args: [
          ...['-cp', join(staging, 'compiler', '*'), COMPILER, ...COMPILE],
          ...['-cp', path.join(':'), '-d', join(staging, 'classes')],
          ...[join(NODES, MAIN), join(sources, 'StoreNode.java')],
        ],
        cwd: sources,
        failure: `building ${title} failed`,
        alone: `javac -cp 'FOLDER_OF_JARS/*' ${join(NODES, MAIN)} ${join(sources, 'StoreNode.java')}`,
      };
      await compile(build, options);
    },
  );
  await rm(join(staging, 'compiler'), { recursive: true });
  // Descriptors of the modules, beside their jars.
  if (await exists(join(sources, 'modules'))) {
    await cp(join(sources, 'modules'), join(staging, 'modules'), { recursive: true });
  }
}

/**
 * Verifies the downloads against a list in the format of sha256sum, because Maven has no lock file. Returns the names
 * relative to the folder; throws on missing, additional or different files.
 */
export async function verifyJars(folder: string, list: string): Promise<string[]> {
  const expected = new Map(
    (await readFile(list, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const found = await Array.fromAsync(glob('**/*.jar', { cwd: folder }));
  const wrong = [...expected.keys()]
    .filter((name) => !found.includes(name))
    .map((name) => `${basename(name)} is missing`);
  for (const name of found) {
    const sum = createHash('sha256')
      .update(await readFile(join(folder, name)))
      .digest('hex');
    if (!expected.has(name)) wrong.push(`${basename(name)} is not listed`);
    else if (expected.get(name) !== sum) wrong.push(`${basename(name)} has another checksum`);
  }
  if (wrong.length > 0) {
    throw new Error(`the downloads of Maven differ from ${list}: ${wrong.sort().join(', ')}`);
  }
  return found.sort();
}
