// Exports the lines of the query as a file: streamed to the disk where the browser can, else kept by the browser.
import type { LogExport, LogQuery } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { bytesText } from '../quantity.ts';
import { Notice, type Tone } from '../ui/notice.ts';
import { Select } from '../ui/select.ts';

const FORMATS = { text: 'Text, only the lines', ndjson: 'NDJSON', json: 'JSON', csv: 'CSV' } as const;
type Format = keyof typeof FORMATS;

/** https://wicg.github.io/file-system-access/ */
interface FilePicker {
  readonly showSaveFilePicker?: (options: {
    readonly suggestedName: string;
  }) => Promise<{ readonly createWritable: () => Promise<WritableStream<Uint8Array>> }>;
}

type Result = readonly [tone: Tone, text: string];
const incomplete = (why: string): Result => ['warn', `The file is incomplete: ${why}.`];

export function ExportMenu({ query }: { readonly query: LogQuery }): ComponentChildren {
  const { client } = useExplore();
  const [format, setFormat] = useState<Format>('text');
  const [bytes, setBytes] = useState(0);
  const [result, setResult] = useState<Result>();
  const [running, setRunning] = useState<AbortController>();
  const start = async (): Promise<void> => {
    // The dialog needs the click, so it opens before the request.
    const file = await filePicked(format);
    const ended = new AbortController();
    setRunning(ended);
    setBytes(0);
    setResult(['info', 'Exporting …']);
    const passed = (chunk: number): void => setBytes((sum) => sum + chunk);
    try {
      const exported = await client.logs.export({ ...query, format, sort: 'asc' }, { signal: ended.signal });
      await save(exported, file, passed);
      const missing = exported.shortfalls().map(({ message }) => message);
      setResult(exported.complete() ? ['good', 'Complete.'] : incomplete(missing.join('; ')));
    } catch (error) {
      setResult(incomplete(ended.signal.aborted ? 'you have cancelled it' : (error as Error).message));
    }
    setRunning(undefined);
  };
  return [
    h('button', { popovertarget: 'export' }, 'Export'),
    h(
      'div',
      { id: 'export', popover: 'auto' },
      h('div', { class: 'stack' }, [
        h(Select, {
          ...{ label: 'Format', value: format, options: FORMATS },
          choose: (value) => setFormat(value as Format),
        }),
        running
          ? h('button', { onClick: () => running.abort() }, 'Cancel')
          : h(
              'button',
              { class: 'primary', onClick: () => void start().catch(() => undefined) },
              'Save all lines',
            ),
        h('p', { class: 'muted' }, 'All lines of the filters and the time range, the oldest first.'),
        result && h(Notice, { tone: result[0] }, `${result[1]} ${bytesText(bytes)}`),
      ]),
    ),
  ];
}

/** Rejects if the user closes the dialog. Undefined: the browser has no access to the disk. */
async function filePicked(format: Format): Promise<WritableStream<Uint8Array> | undefined> {
  const { showSaveFilePicker } = globalThis as FilePicker;
  const suggestedName = `logs.${format === 'text' ? 'log' : format}`;
  const file = await showSaveFilePicker?.call(globalThis, { suggestedName });
  return file?.createWritable();
}

/** `passed`: called with the number of bytes of each chunk. */
async function save(
  { name, body }: LogExport,
  file: WritableStream<Uint8Array> | undefined,
  passed: (bytes: number) => void,
): Promise<void> {
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      passed(chunk.length);
      controller.enqueue(chunk);
    },
  });
  const counted = body.pipeThrough(counting);
  if (file) return counted.pipeTo(file);
  const href = URL.createObjectURL(await new Response(counted).blob());
  Object.assign(document.createElement('a'), { href, download: name }).click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
