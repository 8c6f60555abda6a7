// Activity lets the objects and logs of a simulated cluster change as in a real one: roll-outs, crashes, errors in logs, Jobs,
// scaling, memory pressure and custom resources. Its order depends on a seed; tests call single incidents.
import { setTimeout as delay } from 'node:timers/promises';
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { Client } from '../../control-plane/client.ts';
import { Random } from '../../log-data/random.ts';
import { APPLICATIONS, type Application } from '../applications.ts';
import { crash, recover, rollOut, scale, setMemoryPressure } from './changes.ts';
import { changeDatabase, createDatabases } from './databases.ts';
import { runJob } from './jobs.ts';
import { LINES_PER_SECOND, LogMessages } from './log-messages.ts';
import { type Incident, planIncidents } from './plan.ts';
import { PodLogFiles } from './pod-log-files.ts';
import { isCrashed, listPods, type SimulatedPod } from './simulated-pods.ts';

interface ActivityOptions {
  /** Client of an administrator. */
  readonly client: Client;
  /** Folder of the logs. KWOK runs with `hasPodLogs`. */
  readonly logs: string;
  /** Names of the nodes on which pods run. */
  readonly nodes: readonly string[];
  readonly seed?: number;
}

const SECOND_MS = 1_000;
const DATABASE_INTERVAL_MS = 4_000;
const PRESSURE_MS = 15_000;
const OUTAGE = { seconds: 12, errorsPerSecond: 20 } as const;
const MAX_REPLICAS = 5;

/** Every other application is rolled out and scaled. The pods of the others stay, so that their logs have a past. */
const STABLE = APPLICATIONS.filter((_, index) => index % 2 === 0);
const ROLLED_OUT = APPLICATIONS.filter((_, index) => index % 2 === 1);

export class Activity {
  readonly #client: Client;
  readonly #nodes: readonly string[];
  readonly #random: Random;
  readonly #messages: LogMessages;
  readonly #files: PodLogFiles;
  /** Number of roll-outs. Afterwards the pods start slowly, so that their logs are open before. */
  readonly #rolledOut = new Map<Application, number>();

  constructor({ client, logs, nodes, seed = 1 }: ActivityOptions) {
    this.#client = client;
    this.#nodes = nodes;
    this.#random = new Random(seed);
    this.#messages = new LogMessages(this.#random);
    this.#files = new PodLogFiles(client, logs);
  }

  /** Resolves when the signal aborts; rejects if a change fails. */
  async run(signal: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const bound = AbortSignal.any([signal, failed.signal]);
    const guarded = (work: Promise<void>): Promise<void> => work.catch((error) => failed.abort(error));
    const incidents = async (): Promise<void> => {
      for (const { incident, pauseMs } of planIncidents(this.#random)) {
        void guarded(this.#start(incident, bound));
        await delay(pauseMs, undefined, { signal: bound });
      }
    };
    await guarded(this.prepare(bound));
    if (!bound.aborted) {
      await Promise.all([
        guarded(repeat(SECOND_MS, () => this.#log(bound), bound)),
        guarded(repeat(DATABASE_INTERVAL_MS, () => changeDatabase(this.#client, this.#random, bound), bound)),
        guarded(incidents()),
      ]);
    }
    if (!signal.aborted) throw failed.signal.reason;
  }

  /** Creates the custom resources and the logs of the past hour, and ends the incidents of an earlier run. */
  async prepare(signal: AbortSignal): Promise<void> {
    await createDatabases(this.#client, this.#random, signal);
    await this.#files.deleteAll();
    const pods = await listPods(this.#client, signal);
    const failing = this.#random.pick(STABLE);
    for (const pod of pods) {
      const past = this.#messages.past(pod.application, pod.application === failing, Date.now());
      await this.#files.open(pod, past, signal);
    }
    for (const pod of pods.filter(isCrashed)) await this.#recover(pod, signal);
    for (const node of this.#nodes) await this.#relieve(node, signal);
  }

  /** Resolves when the roll-out has begun. */
  async rollOut(name: string, signal: AbortSignal): Promise<void> {
    const application = applicationOf(name);
    const count = (this.#rolledOut.get(application) ?? 0) + 1;
    this.#rolledOut.set(application, count);
    const target = { version: `v2.${count}.0`, nodeName: this.#random.pick(this.#nodes) };
    await rollOut(this.#client, application, target, signal);
  }

  /** Lets one pod of the application crash, and returns it; undefined if none runs. */
  async crash(name: string, signal: AbortSignal): Promise<SimulatedPod | undefined> {
    const [pod] = this.#random.shuffled(await this.#healthyPods(name, signal));
    if (pod === undefined) return undefined;
    await this.#files.append(pod, this.#messages.errors(pod.application, 1, Date.now()));
    await this.#files.endRun(pod);
    await crash(this.#client, pod, signal);
    return pod;
  }

  /** Lets a crashed pod run again, unless it was deleted meanwhile. */
  async recover({ uid }: Pick<SimulatedPod, 'uid'>, signal: AbortSignal): Promise<void> {
    const pods = await listPods(this.#client, signal);
    const pod = pods.find((one) => one.uid === uid);
    if (pod !== undefined && isCrashed(pod)) await this.#recover(pod, signal);
  }

  /** Writes errors at once, spread over the running pods of the application. */
  async logErrors(name: string, count: number, signal: AbortSignal): Promise<void> {
    const pods = await this.#healthyPods(name, signal);
    const share = Math.ceil(count / Math.max(1, pods.length));
    for (const pod of pods) {
      await this.#files.append(pod, this.#messages.errors(pod.application, share, Date.now()));
    }
  }

  /** Resolves when the Job is complete. */
  runJob(signal: AbortSignal): Promise<void> {
    const name = `report-${Math.floor(Date.now() / SECOND_MS)}`;
    return runJob(this.#client, { name, nodeName: this.#random.pick(this.#nodes) }, signal);
  }

  #start(incident: Incident, signal: AbortSignal): Promise<void> {
    const start = {
      'roll-out': () => this.rollOut(this.#random.pick(ROLLED_OUT).name, signal),
      outage: () => this.#outage(this.#random.pick(STABLE).name, signal),
      job: () => this.runJob(signal),
      scaling: () => this.#scale(signal),
      'memory-pressure': () => this.#pressMemory(signal),
    } satisfies Record<Incident, () => Promise<void>>;
    return start[incident]();
  }

  /** A crash, with errors in the logs of all pods of the application. */
  async #outage(name: string, signal: AbortSignal): Promise<void> {
    const pod = await this.crash(name, signal);
    for (let second = 0; second < OUTAGE.seconds; second++) {
      await this.logErrors(name, OUTAGE.errorsPerSecond, signal);
      await delay(SECOND_MS, undefined, { signal });
    }
    if (pod !== undefined) await this.recover(pod, signal);
  }

  async #scale(signal: AbortSignal): Promise<void> {
    const application = this.#random.pick([...this.#rolledOut.keys()]);
    await scale(this.#client, application, 1 + this.#random.below(MAX_REPLICAS), signal);
  }

  async #healthyPods(name: string, signal: AbortSignal): Promise<SimulatedPod[]> {
    const application = applicationOf(name);
    const pods = await listPods(this.#client, signal);
    return pods.filter((pod) => pod.application === application && pod.isRunning && !isCrashed(pod));
  }

  async #pressMemory(signal: AbortSignal): Promise<void> {
    const node = this.#random.pick(this.#nodes);
    await setMemoryPressure(this.#client, node, true, signal);
    await delay(PRESSURE_MS, undefined, { signal });
    await setMemoryPressure(this.#client, node, false, signal);
  }

  async #relieve(node: string, signal: AbortSignal): Promise<void> {
    const { body } = await this.#client.expect(`/api/v1/nodes/${node}`, { signal }, [200, 404]);
    const conditions = recordIn(JSON.parse(body), 'status')['conditions'];
    const isPressed = JSON.stringify(conditions ?? []).includes('KubeletHasInsufficientMemory');
    if (isPressed) await setMemoryPressure(this.#client, node, false, signal);
  }

  async #recover(pod: SimulatedPod, signal: AbortSignal): Promise<void> {
    await this.#files.startRun(pod);
    await this.#files.append(pod, this.#messages.start(pod.application, Date.now()));
    await recover(this.#client, pod, signal);
  }

  /** Opens the logs of new pods, and writes lines of regular traffic. */
  async #log(signal: AbortSignal): Promise<void> {
    const pods = await listPods(this.#client, signal);
    await this.#files.closeAllExcept(pods);
    for (const pod of pods) {
      const now = Date.now();
      if (!this.#files.isOpen(pod)) {
        await this.#files.open(pod, this.#messages.start(pod.application, now), signal);
      } else if (pod.isRunning && !isCrashed(pod) && this.#random.chance(LINES_PER_SECOND)) {
        await this.#files.append(pod, this.#messages.traffic(pod.application, now));
      }
    }
  }
}

function applicationOf(name: string): Application {
  const application = APPLICATIONS.find((one) => one.name === name);
  if (application === undefined) throw new Error(`no application ${name}`);
  return application;
}

async function repeat(intervalMs: number, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work();
    await delay(intervalMs, undefined, { signal });
  }
}
