// Starts an OpenSearch or Elasticsearch node as a child process. node-build.ts builds the node.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { provideJava } from '../java/java.ts';
import { classPathIn } from '../java/java-program.ts';
import { type LogStoreProcess, type StartOptions, startProgram } from './log-store.ts';
import { buildNode } from './node-build.ts';
import { type NodeKind, OPENSEARCH_2 } from './node-kinds.ts';
import { type NodeSecurity, SECURITY_READY_PATH, writeSecurity } from './security.ts';

/** JVM options for tests. Most test nodes stop before the optimizing compiler of the JVM pays off, so it is disabled. */
const SHORT_LIVED = ['-Xms512m', '-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
/**
 * The serial collector leaves garbage until the heap is full. With the real-memory circuit breaker, a node then
 * sometimes rejects long responses; without it, the breaker counts only what requests reserve.
 */
const SHORT_LIVED_SETTINGS = { 'indices.breaker.total.use_real_memory': 'false' };
const READY_PATH = '/_cluster/health?wait_for_status=yellow&wait_for_no_initializing_shards=true&timeout=1s';
/** Start timeout, in ms. Starts took 40 s while all other tests ran on the same machine. */
const READY_TIMEOUT_MS = 120_000;

interface OpenSearchOptions extends StartOptions {
  /** Default: OpenSearch 2. */
  readonly kind?: NodeKind;
  /**
   * Heap size, such as `2g`, for measurements. By default the node is configured for tests: with a heap of 512 MB, a start
   * with half the CPU time, and slower queries.
   */
  readonly heap?: string;
  /** Certificates of a node with the security plugin, which requires them. */
  readonly security?: NodeSecurity;
  /** Settings of the node, which override ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a node without scripting and waits until its shards are available; builds it first if the cache lacks it. */
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
        classPathIn(built),
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
          // A nearly full disk must not block the writes of tests.
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
