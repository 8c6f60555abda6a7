// What the platform's node list can be sorted by.
import type { NodeSortKey } from '../../../apis/resources/v1alpha3/node-query.ts';
import type { ObjectIdentity } from '../../cache/objects/object-reader.ts';
import type { NodeFacts } from './facts.ts';
import { compareVersions } from './sort-versions.ts';

/** A node without its bytes: what orders and filters hold, so that they keep no bytes alive. */
export type NodeIdentity = ObjectIdentity<NodeFacts>;

export type Comparison = (left: NodeIdentity, right: NodeIdentity) => number;

function byText(read: (node: NodeIdentity) => string): Comparison {
  return (left, right) => ordered(read(left), read(right));
}

function byAmount(read: (node: NodeIdentity) => bigint): Comparison {
  return (left, right) => ordered(read(left), read(right));
}

function ordered<Value extends string | bigint>(left: Value, right: Value): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

const byName = byText(({ name }) => name);
// All come from kube-apiserver, in UTC and of one length, so the text sorts as the time does.
const byCreation = byText(({ facts }) => facts.creationTimestamp);

const COMPARISONS: Readonly<Record<NodeSortKey, Comparison>> = {
  name: byName,
  creationTimestamp: byCreation,
  createTime: byCreation,
  status: byText(({ facts }) => facts.status),
  role: byText(({ facts }) => facts.roles.join()),
  cpu: byAmount(({ facts }) => facts.allocatable.cpu),
  memory: byAmount(({ facts }) => facts.allocatable.memory),
  pods: byAmount(({ facts }) => facts.allocatable.pods),
  kubeletVersion: (left, right) => compareVersions(left.facts.kubeletVersion, right.facts.kubeletVersion),
};

/** A total order: names are unique, and they decide what the key leaves open. */
export function comparisonBy(key: NodeSortKey): Comparison {
  const compare = COMPARISONS[key];
  return (left, right) => compare(left, right) || byName(left, right);
}
