// Program that builds the control plane with the `go` command in PATH. build.test.ts runs the program.
import { build } from '../../../../hack/control-plane/build.ts';

await build({ env: process.env, signal: new AbortController().signal, progress: () => undefined });
