// The state of a node in the words of the platform's consoles, which is not that of kubectl's STATUS column.
import { array, record, text } from '../../../apis/reading/unknown-value.ts';
import type { NodeStatus } from '../../../apis/resources/v1alpha3/node-query.ts';

/** Conditions that say something about health, and what a healthy node has there. Others do not count. */
const HEALTHY: ReadonlyMap<string, string> = new Map([
  ['MemoryPressure', 'False'],
  ['DiskPressure', 'False'],
  ['PIDPressure', 'False'],
  ['NetworkUnavailable', 'False'],
  ['Ready', 'True'],
  ['ConfigOK', 'True'],
  ['KubeletReady', 'True'],
]);

/** `spec` and `status` of a node. One that reports no condition is running; `Unknown` is not healthy. */
export function platformStatus(
  spec: Readonly<Record<string, unknown>>,
  status: Readonly<Record<string, unknown>>,
): NodeStatus {
  if (spec['unschedulable'] === true) return 'unschedulable';
  const ill = array(status['conditions']).some((one) => {
    const condition = record(one);
    const healthy = HEALTHY.get(text(condition['type']));
    return healthy !== undefined && condition['status'] !== healthy;
  });
  return ill ? 'warning' : 'running';
}
