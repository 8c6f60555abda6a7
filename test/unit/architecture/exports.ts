// Finds names that a file exports and that no other file imports.
import { posix } from 'node:path';

/** What loads these files is no file of the project: mocha, and a module of @kubernetes/client-node. */
const LOADED_ELSEWHERE = new Set(['test/support/hooks.ts', 'server/cluster/connection/client-node-stub.ts']);

const EXPORTED = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;

/** Returns `file: name` for each unused export of the chosen files, by their text. */
export function unusedExports(
  sources: ReadonlyMap<string, string>,
  isChosen: (file: string) => boolean,
): string[] {
  const words = new Map<string, ReadonlySet<string>>();
  /** The files that mention a file, by its name without the folder. */
  const mentions = new Map<string, Set<string>>();
  for (const [file, source] of sources) {
    if (!file.endsWith('.ts')) continue;
    words.set(file, new Set(source.match(/\w+/g)));
    for (const [name] of source.matchAll(/[\w.-]+\.ts(?=')/g)) {
      mentions.set(name, (mentions.get(name) ?? new Set()).add(file));
    }
  }
  return [...sources].flatMap(([file, source]) => {
    if (!isChosen(file) || LOADED_ELSEWHERE.has(file)) return [];
    const users = [...(mentions.get(posix.basename(file)) ?? [])].filter((user) => user !== file);
    return [...source.matchAll(EXPORTED)]
      .map(([, name = '']) => name)
      .filter((name) => !users.some((user) => words.get(user)?.has(name)))
      .map((name) => `${file}: ${name}`);
  });
}
