import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';

/**
 * Gives the KubeConfig to use now: of `file`, read again when it has changed, else the in-cluster service account.
 * One KubeConfig lives as long as its text, because it keeps the tokens that exec plugins gave it.
 */
export function kubeConfigSource(file: string | undefined): () => KubeConfig {
  let text: string | undefined;
  let config: KubeConfig | undefined;
  return () => {
    const next = file === undefined ? '' : readFileSync(file, 'utf8');
    if (config && text === next) return config;
    const loaded = new KubeConfig();
    if (file === undefined) {
      loaded.loadFromCluster();
    } else {
      loaded.loadFromString(next);
      loaded.makePathsAbsolute(dirname(file));
    }
    text = next;
    config = loaded;
    return loaded;
  };
}
