// Reads the objects that helm and kustomize render, and removes what may differ.
import { parse, parseAllDocuments } from 'yaml';
import { array, isRecord, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { CONFIGURATION } from '../../../../hack/generate/workload.ts';

export type KubernetesObject = Record<string, unknown> & { kind: string; metadata: Record<string, unknown> };

export function objectsOf(yaml: string): KubernetesObject[] {
  return parseAllDocuments(yaml)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null)
    .map(objectOf);
}

function objectOf(value: unknown): KubernetesObject {
  const object = record(value);
  return { ...object, kind: text(object['kind']), metadata: { ...recordIn(object, 'metadata') } };
}

export function nameOf({ kind, metadata }: KubernetesObject): string {
  return [kind, metadata['namespace'], metadata['name']].join('/');
}

/**
 * Objects that the chart has too. Helm creates the namespace. An object that kustomize empties, because kubectl deletes none,
 * does not exist in the chart.
 */
export function inChart(objects: readonly KubernetesObject[]): KubernetesObject[] {
  const isEmpty = ({ rules, subjects }: KubernetesObject): boolean =>
    [rules, subjects].some((list) => Array.isArray(list) && list.length === 0);
  const empty = new Set(objects.filter(isEmpty).map(({ metadata }) => metadata['name']));
  return objects.filter(({ kind, metadata }) => kind !== 'Namespace' && !empty.has(metadata['name']));
}

/** The name of the ConfigMap without the hash of kustomize, and the options that an operator adds to the file. */
export function ofKustomize(object: KubernetesObject, options: object = {}): KubernetesObject {
  const text = JSON.stringify(object).replaceAll(/("ks-apiserver-configuration)-[a-z0-9]{10}"/g, '$1"');
  const named = objectOf(JSON.parse(text));
  const file = recordIn(named, 'data')[CONFIGURATION.file];
  if (typeof file !== 'string') return named;
  return { ...named, data: { [CONFIGURATION.file]: { ...record(parse(file)), ...options } } };
}

/** Without what only Helm needs, and without defaults of kube-apiserver that the chart writes. */
export function ofHelm(object: KubernetesObject): KubernetesObject {
  const { metadata, data, spec } = object;
  const annotations = without(metadata['annotations'], 'helm.sh/resource-policy');
  const others = without(metadata, 'annotations');
  const result = { ...object, metadata: { ...others, ...(annotations && { annotations }) } };
  const file = isRecord(data) ? data[CONFIGURATION.file] : undefined;
  if (typeof file === 'string') {
    const { gateway, ...options } = record(parse(file));
    const isDefault = record(gateway)['impersonation'] === 'none';
    return { ...result, data: { [CONFIGURATION.file]: isDefault ? options : { ...options, gateway } } };
  }
  if (object.kind === 'Service' && recordIn(object, 'spec')['type'] === 'ClusterIP') {
    return { ...result, spec: without(spec, 'type') };
  }
  if (object.kind !== 'Deployment') return result;
  const template = recordIn(recordIn(object, 'spec'), 'template');
  const pod = recordIn(template, 'spec');
  const containers = array(pod['containers']).map((container) => without(container, 'imagePullPolicy'));
  const podMetadata = recordIn(template, 'metadata');
  return {
    ...result,
    spec: {
      ...record(spec),
      template: {
        metadata: {
          ...podMetadata,
          annotations: without(podMetadata['annotations'], 'checksum/configuration'),
        },
        spec: { ...pod, containers },
      },
    },
  };
}

/** Returns undefined if nothing is left. */
function without(value: unknown, name: string): object | undefined {
  if (!isRecord(value)) return undefined;
  const { [name]: _, ...rest } = value;
  return Object.keys(rest).length === 0 ? undefined : rest;
}
