// Finds flags that npm has consumed, because `--` is missing before them. Without this check, the program would ignore them.
import { type CommandLine, UsageError } from '../../apis/reading/command-line.ts';

/** Configuration of other tools that an .npmrc may contain. */
const FOREIGN_KEYS: ReadonlySet<string> = new Set(['email', 'jobs', 'platform']);

/** npm passes flags that it consumes in the environment. Throws UsageError. */
export function rejectConsumedFlags({ command, flags }: CommandLine, env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(flags)) {
    const key = name.replace(/^no-/, '').replaceAll('-', '_');
    if (!command.startsWith('npm ') || FOREIGN_KEYS.has(name) || env[`npm_config_${key}`] === undefined) {
      continue;
    }
    throw new UsageError(`npm consumed the flag --${name}: write -- before it, as in ${command} --${name} …`);
  }
}
