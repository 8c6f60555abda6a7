// Exports the lines of the query as a file: streamed to the disk where the browser can, else kept in memory up to a
// limit.
import type { LogExport, LogQuery } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { Notice } from '../ui/notice.ts';
import { Select } from '../ui/select.ts';

const FORMATS = { text: 'Text, only the lines', ndjson: 'NDJSON', json: 'JSON', csv: 'CSV' } as const;
type Format = keyof typeof FORMATS;
/** Maximum bytes of a file without access to the disk. */
const MAX_BLOB = 512 * 1024 * 1024;

/** https://wicg.github.io/file-system-access/ */
interface FilePicker {
  readonly showSaveFilePicker?: (options: {
    readonly suggestedName: string;
  }) => Promise<{ readonly createWritable: () => Promise<WritableStream<Uint8Array>> }>;
}

interface Progress {
  readonly bytes: number;
  readonly text: string;
  readonly tone?: 'good' | 'warn';
  readonly isRunning: boolean;
}

export function ExportMenu({ query }: { readonly query: LogQuery }): ComponentChildren {
  const { client } = useExplore();
  const [format, setFormat] = useState<Format>('text');
  const [progress, setProgress] = useState<Progress>();
  const running = useRef<AbortController>(undefined);
  const start = async (): Promise<void> => {
    const ended = new AbortController();
    running.current = ended;
    let bytes = 0;
    const update = (text: string, rest: Partial<Progress> = {}): void =>
      setProgress({ bytes, text, isRunning: true, ...rest });
    try {
      const { showSaveFilePicker } = globalThis as FilePicker;
      // The picker needs the click, so it is opened before the request.
      const name = `logs.${format === 'text' ? 'log' : format}`;
      const file = await showSaveFilePicker?.call(globalThis, { suggestedName: name });
      update('Waiting for the first lines …');
      const exported = await client.logs.export({ ...query, format, sort: 'asc' }, { signal: ended.signal });
      let shown = 0;
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (!file && bytes > MAX_BLOB)
            throw new Error(`this browser can only save files of ${sizeOf(MAX_BLOB)}`);
          controller.enqueue(chunk);
          if (Date.now() - shown < 200) return;
          shown = Date.now();
          update('Exporting …');
        },
      });
      const body = exported.body.pipeThrough(counted);
      if (file) await body.pipeTo(await file.createWritable());
      else save(exported, await new Response(body).blob());
      if (exported.complete()) update('Complete.', { tone: 'good', isRunning: false });
      else {
        const missing = exported.shortfalls().map(({ message }) => message);
        update(`The file is incomplete: ${missing.join('; ')}.`, { tone: 'warn', isRunning: false });
      }
    } catch (error) {
      const isCancelled = ended.signal.aborted;
      // The user has closed the picker.
      if (error instanceof DOMException && error.name === 'AbortError' && !isCancelled && bytes === 0) return;
      const why = isCancelled ? 'you have cancelled it' : (error as Error).message;
      update(`The file is incomplete: ${why}.`, { tone: 'warn', isRunning: false });
    }
  };
  return h('details', { class: 'export' }, [
    h('summary', { class: 'button' }, 'Export'),
    h('div', { class: 'export-body card' }, [
      h('label', {}, [
        h('span', { class: 'muted' }, 'Format'),
        h(Select, {
          ...{ label: 'Format', value: format, options: FORMATS },
          choose: (value) => setFormat(value as Format),
        }),
      ]),
      progress?.isRunning
        ? h('button', { onClick: () => running.current?.abort() }, 'Cancel')
        : h('button', { class: 'primary', onClick: () => void start() }, 'Save all lines'),
      h('p', { class: 'muted' }, 'All lines of the filters and the time range, the oldest first.'),
      progress && h(Notice, { tone: progress.tone ?? 'info' }, `${progress.text} ${sizeOf(progress.bytes)}`),
    ]),
  ]);
}

function save({ name }: LogExport, blob: Blob): void {
  const href = URL.createObjectURL(blob);
  const anchor = document.createElement('a');
  anchor.href = href;
  anchor.download = name;
  anchor.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
