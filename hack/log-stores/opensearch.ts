// OpenSearch, or a store with the same API, as one node built from its Maven artifacts: no distribution, no scripts, and
// the security plugin where it is asked for. The sources are in nodes/; node-build.ts builds it.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { provideJava } from './java.ts';
import { type LogStoreProcess, type StartOptions, startProgram } from './log-store.ts';
import { buildNode } from './node-build.ts';
import { type NodeKind, OPENSEARCH_2 } from './node-kinds.ts';
import { type NodeSecurity, SECURITY_READY_PATH, writeSecurity } from './security.ts';

/** Most nodes of tests end before the second compiler would have paid for itself. */
const SHORT_LIVED = ['-Xms512m', '-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
/**
 * That collector leaves garbage until the heap is full. A node that counts all of it as memory in use refuses long answers
 * then, now and again; what requests reserve is counted either way.
 */
const SHORT_LIVED_SETTINGS = { 'indices.breaker.total.use_real_memory': 'false' };
const READY_PATH = '/_cluster/health?wait_for_status=yellow&wait_for_no_initializing_shards=true&timeout=1s';
/** Starts of 40 s have been seen while all other tests ran on the same machine. */
const READY_TIMEOUT_MS = 120_000;

export interface OpenSearchOptions extends StartOptions {
  /** OpenSearch 2 unless told otherwise. */
  readonly kind?: NodeKind;
  /**
   * Of the Java machine, such as `2g`. Without it the node is one for tests: 512 MB, and half the CPU time until it is
   * warm, but slower from then on. For measurements give one.
   */
  readonly heap?: string;
  /** Of a node with the security plugin, which has to be given some. */
  readonly security?: NodeSecurity;
  /** Settings of the node; they win over ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a node and waits until its shards can be asked. It is built first when the cache folder has none. */
export async function startOpenSearch(options: OpenSearchOptions): Promise<LogStoreProcess> {
  const {
    env = process.env,
    signal,
    progress = () => undefined,
    heap,
    kind = OPENSEARCH_2,
    security,
  } = options;
  const java = await provideJava(kind, { env, signal, progress });
  const built = await buildNode(kind, { env, signal, progress });
  const temporary = join(options.dir, 'tmp');
  await mkdir(temporary, { recursive: true });
  const secured = security && (await writeSecurity(join(options.dir, 'config'), security));
  return startProgram(
    {
      name: kind.name,
      ports: 2,
      command: java,
      args: (dir, [http, transport]) => [
        ...(heap === undefined ? SHORT_LIVED : [`-Xms${heap}`, `-Xmx${heap}`]),
        `-Djava.io.tmpdir=${join(dir, 'tmp')}`,
        '-cp',
        `${join(built, 'classes')}:${join(built, 'lib', '*')}`,
        'Main',
        dir,
        ...Object.entries({
          'path.data': join(dir, 'data'),
          'cluster.name': 'log-store',
          'node.name': 'node',
          'network.host': '127.0.0.1',
          'http.port': http,
          'transport.port': transport,
          'http.type': 'netty4',
          'transport.type': 'netty4',
          'discovery.type': 'single-node',
          // A nearly full disk must not make it refuse what a test writes.
          'cluster.routing.allocation.disk.threshold_enabled': false,
          ...(heap === undefined ? SHORT_LIVED_SETTINGS : {}),
          ...secured,
          ...options.settings,
        }).map(([name, value]) => `${name}=${value}`),
      ],
      readyTimeoutMs: READY_TIMEOUT_MS,
      ...(security === undefined
        ? { readyPath: READY_PATH }
        : { readyPath: SECURITY_READY_PATH, ca: security.ca }),
    },
    options,
  );
}
