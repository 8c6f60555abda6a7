// Writes kubeconfig files with embedded certificates.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import type { KeyPair } from './certificate-authority.ts';

interface KubeconfigContent {
  /** Name of the cluster and context. */
  readonly cluster: string;
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly user: string;
  readonly pair: KeyPair;
}

/** A kubeconfig with embedded certificates, so that it can be copied. */
function formatKubeconfig(content: KubeconfigContent): string {
  const context = `${content.user}@${content.cluster}`;
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': context,
      clusters: [
        {
          name: content.cluster,
          cluster: { server: content.url, 'certificate-authority-data': base64(content.ca) },
        },
      ],
      contexts: [{ name: context, context: { cluster: content.cluster, user: content.user } }],
      users: [
        {
          name: content.user,
          user: {
            'client-certificate-data': base64(content.pair.cert),
            'client-key-data': base64(content.pair.key),
          },
        },
      ],
    },
    { lineWidth: 0 },
  );
}

/** Writes the file atomically with mode 0600 and returns its path. */
export async function writeKubeconfig(path: string, content: KubeconfigContent): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.new`;
  await writeFile(next, formatKubeconfig(content), { mode: 0o600 });
  await rename(next, path);
  return path;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
