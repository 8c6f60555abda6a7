// A control plane in a temporary folder, for programs that measure the server behind it.
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../../control-plane/control-plane.ts';
import { prepareTokenTrust, type TokenTrust } from '../../start/token-trust.ts';
import type { Progress } from '../../terminal/progress.ts';
import { type Defer, inWorkFolder } from './work-folder.ts';

interface TemporaryControlPlane {
  readonly dir: string;
  readonly defer: Defer;
  readonly controlPlane: ControlPlane;
  /** Makes kube-apiserver accept the tokens of a server. */
  readonly trust: TokenTrust;
}

/** Runs the work, and removes all afterwards. */
export function withControlPlane<Result>(
  name: string,
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: Progress },
  work: (temporary: TemporaryControlPlane) => Promise<Result>,
): Promise<Result> {
  return inWorkFolder(name, progress, async (dir, defer) => {
    const trust = await prepareTokenTrust(join(dir, 'authentication-configuration.yaml'));
    const controlPlane = await startControlPlane({
      dir: join(dir, 'control-plane'),
      extraApiserverFlags: [trust.flag],
      signal,
      progress,
    });
    defer(() => controlPlane.stop());
    return work({ dir, defer, controlPlane, trust });
  });
}
