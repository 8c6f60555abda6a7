// Fixture of build.test.ts: a program that builds the control plane with the `go` command in PATH.
import { build } from '../../../../hack/control-plane/build.ts';

await build({ env: process.env, signal: new AbortController().signal, progress: () => undefined });
