import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';

/** What this server needs to know of an APIService. */
export interface ApiService {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** PEM; empty when there is none. */
  readonly caBundle: string;
  readonly insecureSkipTLSVerify: boolean;
  /** `namespace/name`; undefined for an API that kube-apiserver serves itself. */
  readonly service: string | undefined;
  /** Who wrote `spec.caBundle` last, by the name of the field manager; for log lines. */
  readonly caBundleManagers: readonly string[];
}

/** Reads an object of the cluster; undefined when it is not an APIService with a name. */
export function readApiService(value: unknown): ApiService | undefined {
  const metadata = recordIn(value, 'metadata');
  const spec = recordIn(value, 'spec');
  const name = text(metadata['name']);
  if (name === '') return undefined;
  const service = record(spec['service']);
  return {
    name,
    uid: text(metadata['uid']),
    resourceVersion: text(metadata['resourceVersion']),
    caBundle: Buffer.from(text(spec['caBundle']), 'base64').toString('utf8'),
    insecureSkipTLSVerify: spec['insecureSkipTLSVerify'] === true,
    service: 'name' in service ? `${text(service['namespace'])}/${text(service['name'])}` : undefined,
    caBundleManagers: managersOfCaBundle(metadata['managedFields']),
  };
}

function managersOfCaBundle(managedFields: unknown): string[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields
    .filter((entry) => 'f:caBundle' in record(recordIn(entry, 'fieldsV1')['f:spec']))
    .map((entry) => text(record(entry)['manager']));
}
