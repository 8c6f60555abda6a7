// Program that starts VictoriaLogs, prints its PID, and waits for SIGKILL. orphan.ts runs the program.
import { startVictoriaLogs } from '../../../../hack/log-stores/victorialogs.ts';

const { pid } = await startVictoriaLogs({ dir: process.argv[2] ?? '', signal: new AbortController().signal });
console.log(pid);
setInterval(() => undefined, 60_000);
