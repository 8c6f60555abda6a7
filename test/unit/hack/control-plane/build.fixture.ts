// Builds the control plane with the `go` in PATH.
import { build } from '../../../../hack/control-plane/build.ts';

await build({ env: process.env, signal: new AbortController().signal, progress: () => undefined });
