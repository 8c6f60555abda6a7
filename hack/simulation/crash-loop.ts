// Crash-looping pods of the simulated cluster: a Deployment, and the KWOK Stage that sets CrashLoopBackOff.
import { CRASH_LOOPING } from './applications.ts';
import { deploymentOf } from './simulated-cluster.ts';

/** The label of pods that crash. */
const LABEL = { 'simulation.example.com/crashes': 'true' } as const;

/** The stage after `pod-ready`: all containers of a pod with the label wait in CrashLoopBackOff. */
export const CRASH_LOOP_STAGE = {
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name: 'pod-crash-loop' },
  spec: {
    resourceRef: { apiGroup: 'v1', kind: 'Pod' },
    selector: {
      matchLabels: LABEL,
      matchExpressions: [
        { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' },
        { key: '.status.phase', operator: 'In', values: ['Running'] },
        {
          key: '.status.conditions.[] | select( .type == "Ready" ) | .status',
          operator: 'In',
          values: ['True'],
        },
      ],
    },
    next: {
      event: { type: 'Warning', reason: 'BackOff', message: 'Back-off restarting failed container' },
      // The previous run is as old as its log, so that queries of the last hour miss no lines of earlier runs.
      statusTemplate: `
{{ $now := Now }}
{{ $started := dateInZone "2006-01-02T15:04:05Z" (dateModify "-2h" now) "UTC" }}
conditions:
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: Initialized
{{ range $type := list "Ready" "ContainersReady" }}
- lastTransitionTime: {{ $now | Quote }}
  status: "False"
  type: {{ $type | Quote }}
  reason: ContainersNotReady
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: false
  started: false
  restartCount: 7
  lastState:
    terminated:
      exitCode: 1
      reason: Error
      startedAt: {{ $started | Quote }}
      finishedAt: {{ $now | Quote }}
  state:
    waiting:
      reason: CrashLoopBackOff
      message: back-off 5m0s restarting failed container
{{ end }}
`,
    },
  },
} as const;

/** A Deployment of two pods that crash. `nodeName`: their node, because no scheduler runs. */
export function crashLoopingDeployment(nodeName: string): object {
  return deploymentOf(CRASH_LOOPING, 2, nodeName, LABEL);
}
