import { findPython, type PythonEnvironment } from '../../hack/python/environment.ts';
import { printProgress } from '../../hack/terminal/progress.ts';

/** Returns the path of the interpreter in a Python environment. Without Python: undefined, to skip the test; in CI, throws. */
export async function pythonWith(
  environment: PythonEnvironment,
  signal: AbortSignal,
): Promise<string | undefined> {
  const progress = printProgress(process.stdout);
  const python = await findPython(environment, { env: process.env, signal, progress });
  if (python !== undefined) return python;
  const message = `${environment.name} needs Python from 3.10 on, with venv`;
  if (process.env['CI'] === 'true') throw new Error(message);
  console.log(`      skipped: ${message}`);
  return undefined;
}
