// The facts that features of this server need of an object: those of nodes, the pods of log queries and of the usage of
// nodes, the subjects of RoleBindings, and what decides which kinds can be listed.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { SharedValues } from '../../memory/shared-values.ts';
import {
  API_SERVICES,
  type APIService,
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomDefinition,
  exactName,
  type Kind,
  NODES,
  PODS,
  ROLE_BINDINGS,
} from '../kind.ts';
import { apiServiceOf } from './api-service-facts.ts';
import { type ContainerSummary, containersOf } from './container-runs.ts';
import { customDefinitions } from './custom-definitions.ts';
import { type NodeFacts, nodeFacts } from './node-facts.ts';
import { type Amounts, NO_AMOUNTS, podAmounts } from './pod-amounts.ts';

export interface FeatureFacts {
  readonly node?: NodeFacts;
  readonly pod?: PodFacts;
  /** The users and groups of a RoleBinding, see userSubject and groupSubject. */
  readonly subjects?: readonly string[];
  readonly apiService?: APIService;
  /** The definitions of a CustomResourceDefinition by version. */
  readonly definitions?: ReadonlyMap<string, CustomDefinition>;
}

export interface PodFacts {
  /** Empty before the pod is scheduled. */
  readonly node: string;
  /** The containers that have a status; none without log queries. */
  readonly containers: readonly ContainerSummary[];
  /** The resource requests and limits; zero before the pod is scheduled, after it has finished, and without the usage of nodes. */
  readonly amounts: Amounts;
}

/** The features that are enabled. */
export interface Features {
  /** Log queries that read the pod log API. */
  readonly podLogs: boolean;
  readonly nodeUsage: boolean;
}

/** Reads the facts of an object. It does not throw. `raw`: its JSON. */
type ReadFacts = (object: unknown, raw: Buffer) => FeatureFacts;

/** Returns the function that reads the facts of the objects of a kind; undefined if no feature needs any. */
export function featureFacts(kind: Kind, features: Partial<Features>): ReadFacts | undefined {
  const name = exactName(kind);
  return Object.hasOwn(READERS, name) ? READERS[name]?.(features) : undefined;
}

const READERS: Readonly<Record<string, (features: Partial<Features>) => ReadFacts | undefined>> = {
  [exactName(NODES)]: () => (node) => ({ node: nodeFacts(node) }),
  [exactName(PODS)]: podReader,
  [exactName(ROLE_BINDINGS)]: bindingReader,
  [exactName(API_SERVICES)]: () => (service) => ({ apiService: apiServiceOf(service) }),
  [exactName(CUSTOM_RESOURCE_DEFINITIONS)]: () => (object, raw) => ({
    definitions: customDefinitions(object, raw),
  }),
};

function podReader({ podLogs = false, nodeUsage = false }: Partial<Features>): ReadFacts | undefined {
  if (!podLogs && !nodeUsage) return undefined;
  const texts = new SharedValues<string>();
  const intern = (value: string): string => texts.of(value);
  const shared = new SharedValues<Amounts>();
  return (pod) => ({
    pod: {
      node: intern(text(recordIn(pod, 'spec')['nodeName'])),
      containers: podLogs ? containersOf(pod, intern) : [],
      amounts: nodeUsage ? sharedAmounts(podAmounts(pod), shared) : NO_AMOUNTS,
    },
  });
}

function bindingReader(): ReadFacts {
  const texts = new SharedValues<string>();
  return (binding) => {
    const subjects = array(record(binding)['subjects'])
      .map((subject) => subjectOf(record(subject)))
      .filter((subject) => subject !== undefined);
    return { subjects: [...new Set(subjects)].map((subject) => texts.of(subject)) };
  };
}

/** Most pods have the amounts of many others. */
function sharedAmounts(amounts: Amounts, shared: SharedValues<Amounts>): Amounts {
  return shared.of(amounts, Object.values(amounts).join());
}

export function userSubject(name: string): string {
  return `user ${name}`;
}

export function groupSubject(name: string): string {
  return `group ${name}`;
}

/** Identifies the subject of a binding as a user or a group; undefined for an unknown kind of subject. */
function subjectOf({ kind, name, namespace }: Readonly<Record<string, unknown>>): string | undefined {
  if (kind === 'User') return userSubject(text(name));
  if (kind === 'Group') return groupSubject(text(name));
  return kind === 'ServiceAccount'
    ? userSubject(`system:serviceaccount:${text(namespace)}:${text(name)}`)
    : undefined;
}
