// Copy of the project in a temporary folder, in which tests run `npm start`.
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const PARTS = ['apis', 'hack', 'manifests', 'server', 'package.json', 'package-lock.json', '.npmrc'];

/**
 * Copies the project with its dependencies and without state, to a folder whose name contains special characters of
 * shells, URLs and patterns.
 */
export async function cloneProject(): Promise<{ dir: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'ks-clone-'));
  const dir = join(parent, 'Prüfung #1 (50%41)');
  await mkdir(dir);
  await Promise.all(PARTS.map((part) => cp(join(root, part), join(dir, part), { recursive: true })));
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  return { dir, remove: () => rm(parent, { recursive: true, force: true, maxRetries: 5 }) };
}
