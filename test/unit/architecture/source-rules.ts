// Lists the rules for the source text of single files.

/** Rule for the source text of a single file. `broken` returns the lines that violate the rule. */
interface SourceRule {
  readonly behaviour: string;
  /** Whether the rule concerns this file. */
  readonly applies: (file: string) => boolean;
  readonly broken: (file: string, source: string) => string[];
  /** A file that violates the rule. */
  readonly example: { readonly file: string; readonly source: string };
}

const MOST_LINES = 300;
const VAGUE_NAME = /^(?:(?:utils?|helpers?|commons?|manager|misc)\b|index\.)|-(?:utils?|helpers?)\./;

/** Words of the column "not" in the glossary that have no other meaning here. */
const PRIVATE_WORDS =
  /\b(?:anew|whoever|who (?:asks|comes|may)|(?:is|are) told|bears?|at fault|heals?|lets go|nobody|somebody|everybody|unless told otherwise)\b/i;

/** Suites with a parameter, which a test file calls for each implementation, and files that mocha runs for the tests of hack/test. */
const SUITES = /\.(?:suite|fixture)\.ts$/;

/**
 * Files that wait for a time, or measure one: polls of conditions and work that takes a time, proxies whose delays are the fault, the
 * pace of a load beside the tests, the quiet background of a trace, and the measurements of load tests and disruptions.
 */
const TIMED = new Set([
  'test/support/until.ts',
  'test/support/work-per-turn.ts',
  'test/support/cluster/freezing-proxy.ts',
  'test/integration/server/graceful-stop.test.ts',
  'test/e2e/gateway/busy-objects.ts',
  'test/e2e/faults/cluster-faults.suite.ts',
  'test/e2e/faults/rotations.suite.ts',
  'test/e2e/journeys/journeys.test.ts',
  'test/e2e/attacks/prober.ts',
  'test/e2e/attacks/raw-flood.ts',
  'test/cluster/disruption.test.ts',
  'test/cluster/follower.ts',
]);

/** The public interface of the client library. */
const PACKAGE_ENTRY = 'client/index.ts';

const isProse = (file: string): boolean => /\.(?:ts|md)$/.test(file);
const isTypeScript = (file: string): boolean => file.endsWith('.ts');
const isServer = (file: string): boolean => file.startsWith('server/') || file.startsWith('apis/');

export const SOURCE_RULES: readonly SourceRule[] = [
  {
    behaviour: 'has a specific name',
    applies: (file) => file !== PACKAGE_ENTRY,
    broken: (file) =>
      VAGUE_NAME.test(file.slice(file.lastIndexOf('/') + 1)) ? ['the name is not specific'] : [],
    example: { file: 'server/cache/cache-utils.ts', source: '' },
  },
  {
    behaviour: 'holds one idea',
    applies: (file) =>
      isTypeScript(file) && !file.startsWith('test/') && !file.startsWith('client/generated/'),
    broken: (_file, source) => {
      const lines = source.split('\n').length - 1;
      return lines > MOST_LINES ? [`${lines} lines: split the file by its ideas`] : [];
    },
    example: { file: 'server/cache/store.ts', source: '\n'.repeat(MOST_LINES + 1) },
  },
  {
    behaviour: 're-exports nothing',
    applies: (file) => isTypeScript(file) && file !== PACKAGE_ENTRY,
    broken: (_file, source) => linesWith(source, /^export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s+from\b/),
    example: { file: 'apis/meta/v1/all.ts', source: "export * from './status.ts';\n" },
  },
  {
    behaviour: 'loads only the types of TypeBox',
    applies: isServer,
    broken: (_file, source) => linesWith(source, /^import (?!type\b).* from 'typebox'/),
    example: { file: 'apis/meta/v1/status.ts', source: "import { type Static, Type } from 'typebox';\n" },
  },
  {
    // The import also loads the undici of Node, which takes 30 ms of CPU and 10 MB at each start; `process.getBuiltinModule` does not.
    behaviour: 'imports only the types of node:http',
    applies: (file) => file.startsWith('server/'),
    broken: (_file, source) => source.match(/^import (?!type\b)[^;]*from 'node:http'/gm) ?? [],
    example: {
      file: 'server/http/response.ts',
      source: "import {\n  ServerResponse,\n} from 'node:http';\n",
    },
  },
  {
    behaviour: 'narrows unknown values instead of casting them',
    applies: isTypeScript,
    broken: (_file, source) =>
      linesWith(source, /\bas any\b|\bas unknown as\b|\{\} as [A-Z]|:\s*any\b|<any>/),
    example: { file: 'server/cache/store.ts', source: 'const pod = {} as V1Pod;\n' },
  },
  {
    behaviour: 'leaves the end of the process to main.ts',
    applies: (file) => isServer(file) && file !== 'server/main.ts',
    // A negative PID is a process group that the server has started.
    broken: (_file, source) =>
      linesWith(source, /\bprocess\.(?:exit|abort|kill)\((?!-pid,)|\bprocess\.exitCode\s*=/),
    example: { file: 'server/server.ts', source: 'process.exit(1);\n' },
  },
  {
    behaviour: 'leaves environment variables to environment.ts and its caller',
    applies: (file) => isServer(file) && file !== 'server/config/environment.ts' && file !== 'server/main.ts',
    broken: (_file, source) => linesWith(source, /\bprocess\.env\b/),
    example: { file: 'server/config/config.ts', source: "const home = process.env['HOME'];\n" },
  },
  {
    behaviour: 'declares tests only if it runs alone, or is a suite with a parameter',
    applies: (file) => file.startsWith('test/') && isTypeScript(file) && !SUITES.test(file),
    broken: (file, source) =>
      file.endsWith('.test.ts') ? [] : linesWith(source, /^\s*(?:describe|it|fault)\(['"`]/),
    example: { file: 'test/e2e/kubectl.ts', source: "  describe('kubectl', () => {\n" },
  },
  {
    behaviour: 'names behaviour in titles, not the numbers of requirements',
    applies: (file) => file.startsWith('test/') && isTypeScript(file),
    broken: (_file, source) => linesWith(source, /\(checks? \d/),
    example: { file: 'test/unit/store.test.ts', source: "it('is a 401 (check 9)', () => {\n" },
  },
  {
    behaviour: 'neither sleeps nor compares times',
    applies: (file) =>
      file.startsWith('test/') && isTypeScript(file) && !file.endsWith('.fixture.ts') && !TIMED.has(file),
    broken: (_file, source) =>
      linesWith(
        source,
        /\bsetTimeout as\b|\bsetTimeout\(\w*(?:resolve|done)\b|\bperformance\.now\(\)\)? [-+<>]/,
      ),
    example: {
      file: 'test/unit/store.test.ts',
      source: '    expect(performance.now() - began).to.be.below(100);\n',
    },
  },
  {
    behaviour: 'replaces no module by a mock',
    applies: (file) => file.startsWith('test/') && file.endsWith('.test.ts'),
    broken: (_file, source) =>
      linesWith(source, /\bmodule\.mock\(|\bjest\.mock\(|\bproxyquire\b|\bmockery\b/),
    example: { file: 'test/unit/store.test.ts', source: "mock.module.mock('./store.ts');\n" },
  },
  {
    // localhost is only ::1 on some machines, and test servers listen on 127.0.0.1.
    behaviour: 'connects to 127.0.0.1, not to localhost',
    applies: (file) => isTypeScript(file) && (file.startsWith('test/') || file.startsWith('hack/')),
    broken: (_file, source) => linesWith(source, /:\/\/localhost:\$\{/),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    example: { file: 'test/unit/listener.test.ts', source: 'await fetch(`https://localhost:${port}`);\n' },
  },
  {
    behaviour: 'names no host that packages are fetched from',
    applies: (file) => file !== 'LICENSE',
    broken: (_file, source) =>
      linesWith(
        source,
        /https?:\/\/[^/\s'"`]*(?:registry|goproxy|artifactory|mirror|nexus)[^\s'"`]*/i,
      ).filter((line) => !line.includes('registry.k8s.io')),
    example: { file: '.npmrc', source: 'registry=https://registry.example/\n' },
  },
  {
    behaviour: 'uses the terms of the glossary in CONTRIBUTING.md',
    applies: (file) => isProse(file) && !file.startsWith('test/') && file !== 'CONTRIBUTING.md',
    broken: (_file, source) =>
      source.split('\n').flatMap((line, index) => {
        const [word] = PRIVATE_WORDS.exec(line) ?? [];
        return word === undefined ? [] : [`line ${index + 1}: ${word}`];
      }),
    example: { file: 'docs/limits.md', source: 'The list is read anew.\n' },
  },
];

/** Matching lines, without comments. */
function linesWith(source: string, pattern: RegExp): string[] {
  return source.split('\n').flatMap((line, index) => {
    const found = pattern.test(line) && !/^\s*(?:\*|\/\*|\/\/ )/.test(line);
    return found ? [`line ${index + 1}: ${line.trim()}`] : [];
  });
}
