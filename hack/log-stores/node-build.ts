// Builds an OpenSearch or Elasticsearch node from Maven artifacts and two small Java classes.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, cacheFolder, exists, provide } from '../artifacts/artifact.ts';
import { type JavaProgram, makeJavaProgram, nameOfJavaProgram } from '../java/java-program.ts';
import { NODES, type NodeKind } from './node-kinds.ts';

/** Returns the node's folder; builds it if the cache lacks it, in half a minute, most of it downloads. */
export async function buildNode(kind: NodeKind, options: BuildOptions): Promise<string> {
  const program = programOf(kind);
  const make = async (staging: string): Promise<void> => {
    await makeJavaProgram(program, staging, options);
    // Descriptors of the modules, beside their jars.
    const modules = join(program.folder, 'modules');
    if (await exists(modules)) await cp(modules, join(staging, 'modules'), { recursive: true });
  };
  return provide({ title: kind.title, name: await nameOfJavaProgram(program), make }, options);
}

/** Whether the cache has the node, so that a start needs no Maven. */
export async function isNodeBuilt(kind: NodeKind, env: NodeJS.ProcessEnv): Promise<boolean> {
  return exists(join(cacheFolder(env), await nameOfJavaProgram(programOf(kind))));
}

function programOf(kind: NodeKind): JavaProgram {
  const folder = join(NODES, kind.name);
  return { ...kind, folder, sources: [join(NODES, 'Main.java'), join(folder, 'StoreNode.java')] };
}
