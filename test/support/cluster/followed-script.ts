// Starts a reflector against a fake kube-apiserver, for unit tests. The store that the reflector fills records all
// calls.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { Reflector } from '../../../server/cluster/reflector/reflector.ts';
import type { ReflectorOptions } from '../../../server/cluster/reflector/reflector-options.ts';
import type { ReflectorSink } from '../../../server/cluster/reflector/reflector-sink.ts';
import type { ReflectorTuning } from '../../../server/cluster/reflector/reflector-tuning.ts';
import { rawThing } from './raw-objects.ts';
import { bookmark, type Call, event, list, refuse, ScriptedCluster, send } from './scripted-cluster.ts';

/** A reflector sink that records the calls of the reflector. A test can wait for a call. */
class Transcript implements ReflectorSink {
  readonly lines: string[] = [];
  readonly #waiting = new Map<string, () => void>();
  fails = 0;

  replacement(): ReturnType<ReflectorSink['replacement']> {
    const objects: string[] = [];
    return {
      add: (object) => objects.push(versionOf(object)),
      commit: (resourceVersion) => this.#write(`list@${resourceVersion} ${objects.join(' ')}`.trim()),
    };
  }

  apply(type: string, object: Buffer): void {
    if (this.fails-- > 0) throw new Error('the sink is broken');
    this.#write(`${type} ${versionOf(object)}`);
  }

  bookmark(resourceVersion: string): void {
    this.#write(`BOOKMARK ${resourceVersion}`);
  }

  until(line: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.lines.includes(line)) resolve();
      else this.#waiting.set(line, resolve);
    });
  }

  #write(line: string): void {
    this.lines.push(line);
    this.#waiting.get(line)?.();
  }
}

function versionOf(object: Buffer): string {
  const { name, resourceVersion } = recordIn(JSON.parse(object.toString('utf8')), 'metadata');
  return `${text(name)}@${text(resourceVersion)}`;
}

const QUICK: Partial<ReflectorTuning> = {
  stallMs: 5_000,
  healthyMs: 60_000,
  initialBackoffMs: 2,
  maxBackoffMs: 20,
  random: () => 0,
};

interface Followed {
  readonly sink: Transcript;
  readonly cluster: ScriptedCluster;
  /** The cause of the end of each watch. */
  readonly causes: string[];
  /** The resourceVersions that the reflector reported as its progress. */
  readonly progress: string[];
  /** Resolves once a watch from the sink's resourceVersion has response headers. */
  readonly watchBegan: Promise<void>;
  /** The logged retry delay of each failure, in ms. */
  readonly retries: number[];
  /** Level and message of each log entry, for example `warn reflector resumes its watch`. */
  readonly log: string[];
  stop(): Promise<void>;
}

const changed = (type: string) => (name: string, version: number) => event(type, rawThing(name, version));
export const added = changed('ADDED');
export const modified = changed('MODIFIED');
export const deleted = changed('DELETED');

/** Responses of a script. */
type Respond = (call: Call) => void;
export const sending = (...events: string[]): Respond => {
  return ({ response }) => send(response, ...events);
};
export const refusing = (code: number, reason: string, message?: string): Respond => {
  return ({ response }) => refuse(response, code, reason, message);
};
export const listing = (version: number, items: readonly Buffer[] = [], next = ''): Respond => {
  return ({ response }) => list(response, version, items, next);
};

/** A streaming list of two objects, complete at resourceVersion 5. The response stays open. */
export function complete({ response }: Call): void {
  send(response, event('ADDED', rawThing('a', 3)), event('ADDED', rawThing('b', 2)), bookmark(5, true));
}

/** Returns a function that starts a reflector, for a group of tests. Each reflector is stopped after its test. */
export function followingEach(): typeof follow {
  const running: Followed[] = [];
  afterEach(async () => {
    for (const followed of running.splice(0)) await followed.stop();
  });
  return async (...script) => {
    const started = await follow(...script);
    running.push(started);
    return started;
  };
}

/** Starts a reflector. Each kind of request has a script of responses, whose last entry repeats. */
async function follow(
  scripts: Partial<Record<Call['kind'], ((call: Call) => void)[]>>,
  tuning: Partial<ReflectorTuning> = {},
  of: Partial<Pick<ReflectorOptions, 'path' | 'aggregated'>> = {},
): Promise<Followed> {
  const cluster = await ScriptedCluster.start((call) => {
    const script = scripts[call.kind] ?? [];
    const before = cluster.kinds.filter((kind) => kind === call.kind).length - 1;
    const answer = script[Math.min(before, script.length - 1)];
    if (answer) answer(call);
    else if (call.kind === 'position') list(call.response, 1_000_000);
    else if (call.kind === 'watch') send(call.response, '');
    else refuse(call.response, 500, 'InternalError');
  });
  const sink = new Transcript();
  const client = cluster.connect();
  const end = new AbortController();
  const causes: string[] = [];
  const progress: string[] = [];
  const watchBegan = Promise.withResolvers<void>();
  const retries: number[] = [];
  const lines: string[] = [];
  const note =
    (level: string) =>
    ({ retryMs }: { readonly retryMs?: number }, message?: string): void => {
      lines.push(`${level} ${message}`);
      if (retryMs !== undefined) retries.push(retryMs);
    };
  const reflector = new Reflector({
    client,
    path: '/api/v1/things',
    query: { labelSelector: 'a=b' },
    sink,
    log: { debug: note('debug'), info: note('info'), warn: note('warn') },
    observer: {
      watchBegan: () => watchBegan.resolve(),
      progressed: (resourceVersion) => progress.push(resourceVersion),
      watchEnded: (cause) => causes.push(cause),
    },
    tuning: { ...QUICK, ...tuning },
    ...of,
  });
  const running = reflector.run(end.signal);
  const stop = async () => {
    end.abort();
    await running;
    client.close();
    await cluster.stop();
  };
  return { sink, cluster, causes, progress, watchBegan: watchBegan.promise, retries, log: lines, stop };
}
