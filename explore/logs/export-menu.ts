// Exports the lines of the query as a file, and says whether it is complete.
import { bytesText, type LogExport, type LogQuery } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { choice } from '../ui/controls.ts';
import { notice } from '../ui/notice.ts';
import type { Tone } from '../ui/values.ts';

const FORMATS = { text: 'Text, only the lines', ndjson: 'NDJSON', json: 'JSON', csv: 'CSV' } as const;
type Format = keyof typeof FORMATS;

type Result = readonly [tone: Tone, text: string];
const incomplete = (why: string): Result => ['warn', `The file is incomplete: ${why}.`];

export function ExportMenu({ query }: { readonly query: LogQuery }): ComponentChildren {
  const { client } = useExplore();
  const [format, setFormat] = useState<Format>('text');
  const [bytes, setBytes] = useState(0);
  const [result, setResult] = useState<Result>();
  const [running, setRunning] = useState<AbortController>();
  const start = async (): Promise<void> => {
    const ended = new AbortController();
    const { signal } = ended;
    setRunning(ended);
    setBytes(0);
    setResult(['info', 'Exporting …']);
    const failed = ({ message }: Error): Result =>
      incomplete(signal.aborted ? 'you have cancelled it' : message);
    const saving = client.logs.save({ ...query, format, sort: 'asc' }, { signal, onProgress: setBytes });
    setResult(await saving.then(resultOf, failed));
    setRunning(undefined);
  };
  return [
    h('button', { popovertarget: 'export' }, 'Export'),
    h('div', { id: 'export', popover: 'auto' }, [
      h('div', { class: 'stack' }, [
        choice('Format', format, FORMATS, (value) => setFormat(value as Format)),
        running
          ? h('button', { onClick: () => running.abort() }, 'Cancel')
          : h('button', { class: 'primary', onClick: start }, 'Save all lines'),
        h('p', { class: 'muted' }, 'All lines of the filters and the time range, the oldest first.'),
        result && notice(result[0], `${result[1]} ${bytesText(bytes)}`),
      ]),
    ]),
  ];
}

/** Without a file, the user has closed the dialog. */
function resultOf(file: LogExport | undefined): Result | undefined {
  if (!file) return undefined;
  if (file.complete()) return ['good', 'Complete.'];
  const missing = file.shortfalls().map(({ message }) => message);
  return incomplete(missing.join('; '));
}
