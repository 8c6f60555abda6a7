// Lists the API group versions that kube-apiserver forwards to ks-apiserver.
import * as logging from '../../apis/logging/v1alpha2/group-version.ts';
import * as resources from '../../apis/resources/v1alpha3/group-version.ts';
import type { Names } from './names.ts';

/** An API group version that kube-apiserver forwards to ks-apiserver. */
interface AggregatedGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly apiService: string;
}

export function groupVersionsOf({ platform }: Names): AggregatedGroupVersion[] {
  return [resources, logging].map(({ groupName, VERSION, apiServiceName }) => ({
    group: groupName(platform),
    version: VERSION,
    apiService: apiServiceName(platform),
  }));
}
