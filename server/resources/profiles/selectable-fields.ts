// The fields that kube-apiserver supports in field selectors, for each kind.
// Source: AddFieldLabelConversionFunc and ToSelectableFields in pkg/apis and pkg/registry of Kubernetes.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { exactName, type Kind } from '../kind.ts';
import { goText } from './go-text.ts';
import { compileJSONPath, type JSONPath, JSONPathError } from './json-path.ts';
import { JSONPathWalk, UNKNOWN } from './json-path-walk.ts';

type Read<Text = string> = (object: unknown) => Text;
/** Returns UNKNOWN for a value that kube-apiserver may print otherwise. */
type ReadField = Read<string | typeof UNKNOWN>;

function inSpec(field: string): Read {
  return (object) => text(recordIn(object, 'spec')[field]);
}

function inStatus(field: string): Read {
  return (object) => text(recordIn(object, 'status')[field]);
}

function top(field: string): Read {
  return (object) => text(record(object)[field]);
}

function statusCount(field: string): Read {
  return (object) => {
    const value = recordIn(object, 'status')[field];
    return String(typeof value === 'number' ? value : 0);
  };
}

const podIP: Read = (object) => text(record(array(recordIn(object, 'status')['podIPs'])[0])['ip']);

/** The fields of the object that an event is about, by their prefix. */
function aboutObject(prefix: string): Readonly<Record<string, Read>> {
  const names = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  return Object.fromEntries(
    names.map((name): [string, Read] => [
      `${prefix}.${name}`,
      (object) => text(recordIn(object, prefix)[name]),
    ]),
  );
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  pods: {
    'spec.nodeName': inSpec('nodeName'),
    'spec.host': inSpec('nodeName'),
    'spec.restartPolicy': inSpec('restartPolicy'),
    'spec.schedulerName': inSpec('schedulerName'),
    'spec.serviceAccountName': inSpec('serviceAccountName'),
    'spec.hostNetwork': (object) => String(recordIn(object, 'spec')['hostNetwork'] === true),
    'status.phase': inStatus('phase'),
    'status.podIP': podIP,
    // kube-apiserver accepts this field, but its value is always empty.
    'status.podIPs': () => '',
    'status.nominatedNodeName': inStatus('nominatedNodeName'),
  },
  nodes: { 'spec.unschedulable': (object) => String(recordIn(object, 'spec')['unschedulable'] === true) },
  namespaces: { 'status.phase': inStatus('phase') },
  services: { 'spec.clusterIP': inSpec('clusterIP'), 'spec.type': inSpec('type') },
  secrets: { type: top('type') },
  replicationcontrollers: { 'status.replicas': statusCount('replicas') },
  'jobs.batch': { 'status.successful': statusCount('succeeded') },
  'certificatesigningrequests.certificates.k8s.io': { 'spec.signerName': inSpec('signerName') },
  events: {
    ...aboutObject('involvedObject'),
    reason: top('reason'),
    reportingComponent: top('reportingComponent'),
    source: (object) => text(recordIn(object, 'source')['component']) || top('reportingComponent')(object),
    type: top('type'),
  },
  'events.events.k8s.io': {
    ...aboutObject('regarding'),
    reason: top('reason'),
    reportingController: top('reportingController'),
    type: top('type'),
  },
};

/** Fields whose values differ between most objects. */
export const OWN_FIELDS: ReadonlySet<string> = new Set([
  'spec.nodeName',
  'status.podIP',
  'status.nominatedNodeName',
  'spec.clusterIP',
  ...['involvedObject', 'regarding'].flatMap((about) =>
    ['name', 'uid', 'resourceVersion', 'fieldPath'].map((field) => `${about}.${field}`),
  ),
]);

/** Returns the function that reads each field of the kind. */
export function selectableFields(kind: Kind): Readonly<Record<string, ReadField>> {
  const name = exactName(kind);
  if (!kind.custom && Object.hasOwn(FIELDS, name)) return FIELDS[name] ?? {};
  // kube-apiserver accepts this field for its cluster-scoped kinds without fields of their own.
  if (!kind.custom) return kind.namespaced ? {} : { 'metadata.namespace': () => '' };
  return Object.fromEntries(kind.custom.selectableFields.flatMap(customField));
}

/** Maximum length of a value. Field selectors compare short words. */
export const MAX_VALUE = 1024;

/** A field whose path this server cannot compute is not selectable. kube-apiserver accepts only names separated by dots. */
function customField(path: string): readonly [field: string, read: ReadField][] {
  const steps = fieldSteps(path);
  if (!steps) return [];
  const read: ReadField = (object) => {
    const walk = new JSONPathWalk();
    const value = walk.first(object, steps);
    if (value === UNKNOWN) return UNKNOWN;
    return value === undefined || value === null ? '' : (goText(value, MAX_VALUE, walk) ?? UNKNOWN);
  };
  return [[path.replace(/^\./, ''), read]];
}

function fieldSteps(path: string): JSONPath | undefined {
  try {
    const { steps, unsupported } = compileJSONPath(path);
    return unsupported === undefined ? steps : undefined;
  } catch (error) {
    if (error instanceof JSONPathError) return undefined;
    throw error;
  }
}
