// Program that starts a log store, prints the PID of the log store, and waits for SIGKILL. orphan.ts runs the program.
import { startOpenSearch } from '../../../../hack/log-stores/opensearch.ts';
import { startVictoriaLogs } from '../../../../hack/log-stores/victorialogs.ts';

const [kind, dir = ''] = process.argv.slice(2);
const start = kind === 'opensearch' ? startOpenSearch : startVictoriaLogs;
const { pid } = await start({ dir, signal: new AbortController().signal });
console.log(pid);
setInterval(() => undefined, 60_000);
