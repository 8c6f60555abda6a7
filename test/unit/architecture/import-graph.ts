// Reads the imports between the files of the project, and finds import cycles.
import { posix } from 'node:path';

/** An import between two files of the project. Paths are relative to the repository root. */
interface Import {
  readonly from: string;
  readonly to: string;
}

/** All relative imports of values and types. */
export function importsOf(file: string, source: string): Import[] {
  const specifiers = source.matchAll(/\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...specifiers].map(([, specifier = '']) => ({
    from: file,
    to: posix.join(posix.dirname(file), specifier),
  }));
}

/** Layers from top to bottom: a file may import from its own layer and from those below. */
const LAYERS: readonly (readonly string[])[] = [
  ['test'],
  ['hack'],
  ['server/main.ts'],
  ['server/commands'],
  // The composition root: every other file directly in server/.
  ['server/*.ts'],
  [
    'server/listener',
    'server/filters',
    'server/endpoints',
    'server/explore',
    'server/nodes',
    'server/lists',
    'server/gateway',
    'server/iam',
    'server/oauth',
    'server/logging',
    'server/registration',
  ],
  ['server/rest'],
  ['server/http'],
  ['server/request'],
  ['server/resources', 'server/authentication', 'server/authorization'],
  [
    'server/cache',
    'server/cluster',
    'server/memory',
    'server/observability',
    'server/tracing',
    'server/upstream',
  ],
  ['server/config', 'server/admission', 'server/concurrency', 'server/files'],
  ['apis', 'package.json'],
  // Run in browsers, and import nothing of the server.
  ['explore'],
  ['client'],
];

/** The entry of the table that contains a file. */
function partOf(file: string): string | undefined {
  const named = LAYERS.flat().find((part) => file === part || file.startsWith(`${part}/`));
  return named ?? (/^server\/[^/]+\.ts$/.test(file) ? 'server/*.ts' : undefined);
}

/** One line for each import that points upwards, and for each file outside the table. */
export function backwardImports(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to }) => {
    const [above, below] = [layerOf(from), layerOf(to)];
    if (above === -1) return [`${from} belongs to no layer`];
    if (below === -1) return [`${from} imports ${to}, which belongs to no layer`];
    return above > below ? [`${from} imports ${to}, which is above it`] : [];
  });
}

function layerOf(file: string): number {
  const part = partOf(file);
  return LAYERS.findIndex((layer) => part !== undefined && layer.includes(part));
}

/** The nodes of the first cycle; empty if there is none. */
export function cycleIn(edges: readonly Import[]): string[] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] => {
    const seenAt = path.indexOf(node);
    if (seenAt !== -1) return [...path.slice(seenAt), node];
    if (finished.has(node)) return [];
    path.push(node);
    for (const { to } of next.get(node) ?? []) {
      const cycle = visit(to);
      if (cycle.length > 0) return cycle;
    }
    path.pop();
    finished.add(node);
    return [];
  };
  for (const node of next.keys()) {
    const cycle = visit(node);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

/** Imports between parts of the server. */
export function betweenParts(imports: readonly Import[]): Import[] {
  return imports.flatMap(({ from, to }) => {
    const [above, below] = [partOf(from), partOf(to)];
    return above === undefined || below === undefined || above === below ? [] : [{ from: above, to: below }];
  });
}

/** Imports between folders, each without its subfolders. */
export function betweenFolders(imports: readonly Import[]): Import[] {
  return imports
    .map(({ from, to }) => ({ from: posix.dirname(from), to: posix.dirname(to) }))
    .filter(({ from, to }) => from !== to);
}
