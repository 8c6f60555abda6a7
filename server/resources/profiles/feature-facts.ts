// The facts that features of this server need of an object: those of nodes, the pods of log queries and of the usage of
// nodes, and the subjects of RoleBindings.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { SharedValues } from '../../memory/shared-values.ts';
import { exactName, type Kind } from '../kind.ts';
import { type ContainerSummary, containersOf } from './container-runs.ts';
import { type NodeFacts, nodeFacts } from './node-facts.ts';
import { type Amounts, NO_AMOUNTS, podAmounts } from './pod-amounts.ts';

export interface FeatureFacts {
  readonly node?: NodeFacts;
  readonly pod?: PodFacts;
  /** The users and groups of a RoleBinding, see userSubject and groupSubject. */
  readonly subjects?: readonly string[];
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

/** Returns the function that reads the facts of an object of a kind. It does not throw. */
export function featureFacts(
  kind: Kind,
  { podLogs = false, nodeUsage = false }: Partial<Features>,
): (object: unknown) => FeatureFacts | undefined {
  const name = exactName(kind);
  if (name === 'nodes') return (object) => ({ node: nodeFacts(object) });
  const texts = new SharedValues<string>();
  const intern = (value: string): string => texts.of(value);
  if (name === 'pods' && (podLogs || nodeUsage)) {
    const shared = new SharedValues<Amounts>();
    return (pod) => ({
      pod: {
        node: intern(text(recordIn(pod, 'spec')['nodeName'])),
        containers: podLogs ? containersOf(pod, intern) : [],
        amounts: nodeUsage ? sharedAmounts(podAmounts(pod), shared) : NO_AMOUNTS,
      },
    });
  }
  if (name !== 'rolebindings.rbac.authorization.k8s.io') return () => undefined;
  return (binding) => {
    const subjects = array(record(binding)['subjects'])
      .map((subject) => subjectOf(record(subject)))
      .filter((subject) => subject !== undefined);
    return { subjects: [...new Set(subjects)].map(intern) };
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
