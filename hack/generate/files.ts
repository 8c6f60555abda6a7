import { join } from 'node:path';
import type { GeneratedFile } from './generated-file.ts';
import { manifests } from './manifests.ts';
import type { Names } from './names.ts';

/** Every generated file of the repository at `root`. */
export function generatedFiles(root: string, names: Names): GeneratedFile[] {
  return [
    {
      path: join(root, 'manifests/names.json'),
      text: () => `${JSON.stringify({ platform: names.platform }, undefined, 2)}\n`,
    },
    ...[...manifests(names)].map(([path, text]) => ({
      path: join(root, 'manifests', path),
      text: () => text,
    })),
  ];
}
