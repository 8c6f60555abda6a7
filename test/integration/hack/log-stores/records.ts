// Generates log records of two pods in two namespaces, before and after midnight UTC. Every hundredth line contains
// `TimeOut`.
import type { LogRecord } from '../../../../hack/log-stores/record.ts';

/** Log lines of two pods in two namespaces, before and after midnight UTC. Every hundredth line contains `TimeOut`. */
export function* someRecords(count: number): Generator<LogRecord> {
  const begin = Date.parse('2026-11-19T23:59:59Z');
  for (let index = 0; index < count; index++) {
    const name = index % 2 === 0 ? 'web' : 'db';
    const milliseconds = new Date(begin + Math.floor((index * 2_000) / count)).toISOString().slice(0, 23);
    yield {
      log: index % 100 === 0 ? `Upstream TimeOut-${index} after 30s` : `handled request ${index} "as ever"`,
      time: `${milliseconds}${String(index).padStart(6, '0')}Z`,
      stream: 'stdout',
      kubernetes: {
        pod_name: `${name}-6f8b7c-x2x4z`,
        namespace_name: `team-${name}`,
        pod_id: `8c6f0c0e-0000-4000-8000-00000000000${index % 2}`,
        container_name: name,
        docker_id: String(index % 2).repeat(64),
        container_image: `registry.example/${name}:1.0`,
        host: 'node-1',
        labels: { app: name, 'app.kubernetes.io/name': `the-${name}` },
      },
    };
  }
}
